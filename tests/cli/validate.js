// Holds documents against their JSON Schemas, with a validator that others wrote (ajv).
//
// usage: node validate.js FILE
//
// FILE is JSON: {"schemas": what `vcm schema --json` prints, "documents": [{"command", "failed", "words",
// "document"}]}. Every schema is compiled, needed or not. Prints one line for each finding; exit status 1
// when there is one.
"use strict";

const fs = require("fs");
const Ajv2020 = require("ajv/dist/2020");

const { schemas, documents } = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
// Strict: an unknown keyword or a type that contradicts another is an error of the schema.
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, allErrors: true });
const findings = [];

function compile(name, schema) {
  try {
    return ajv.compile(schema);
  } catch (error) {
    findings.push(`schema of ${name}: ${error.message}`);
    return null;
  }
}

const failure = compile("failures", schemas.error);
const commands = new Map();
for (const [name, schema] of Object.entries(schemas.commands)) commands.set(name, compile(name, schema));

for (const { command, failed, words, document } of documents) {
  const validate = failed ? failure : commands.get(command);
  if (!validate) {
    findings.push(`${words}: no schema of '${command}'`);
  } else if (!validate(document)) {
    for (const error of validate.errors.slice(0, 8))
      findings.push(`${words}: ${error.instancePath || "the document"} ${error.message} ` +
                    `${JSON.stringify(error.params)}`);
  }
}
for (const finding of [...new Set(findings)].slice(0, 60)) console.log(finding);
process.exit(findings.length ? 1 : 0);
