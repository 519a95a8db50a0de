#include "lfs/template.h"

#include "base/banned.h"

const char vcm_template_repo_map[] =
    "## What of this repository becomes pages, and what goes to the knowledge base.\n"
    "## Every key: docs/repo-map.md of vcm, or `vcm check --help`. Validate with `vcm check`.\n"
    "## Lines with a single '#' are examples: take the '#' away to use them.\n"
    "schema_version: 1\n"
    "\n"
    "sources:\n"
    "  ## The whole tree, text files only, at the branch that is checked out.\n"
    "  - name: default\n"
    "    type: git_repo\n"
    "\n"
    "  ## A part of the tree, with smaller pages.\n"
    "#  - name: code\n"
    "#    type: git_repo\n"
    "#    start_dir: src\n"
    "#    include_globs: [\"**/*.c\", \"**/*.h\", \"**/*.py\"]\n"
    "#    exclude_globs: [\"**/generated/**\"]\n"
    "#    flush_threshold: 8\n"
    "#    flush_token_budget: 2048\n"
    "\n"
    "  ## Papers and notes, cut into chunks of prose.\n"
    "#  - name: literature\n"
    "#    type: literature\n"
    "#    start_dir: docs\n"
    "#    chunk_target_tokens: 800\n"
    "#    chunk_overlap_tokens: 64\n"
    "\n"
    "  ## A submodule at the commit that this repository names, never evicted.\n"
    "#  - name: reference\n"
    "#    type: git_repo\n"
    "#    submodule: vendor/reference\n"
    "#    static: true\n"
    "#    pinned: true\n"
    "\n"
    "  ## Another repository.\n"
    "#  - name: upstream\n"
    "#    type: git_repo\n"
    "#    origin_url: https://example.com/team/upstream.git\n"
    "#    branch: main\n"
    "\n"
    "## Files for the knowledge base; `ingest_to: vcm` makes pages of them instead.\n"
    "#knowledge_routing:\n"
    "#  - paths: [\"docs/**/*.pdf\", \"notes/**/*.md\"]\n"
    "#    ingest_to: knowledge_base\n"
    "#    profile: research_paper\n"
    "#  - paths: [\"docs/standards/**\"]\n"
    "#    ingest_to: vcm\n";

static const struct {
    const char *group; /* of this pattern and those that follow */
    const char *pattern;
} formats[] = {
    {"Documents", "*.pdf"},
    {NULL, "*.docx"},
    {NULL, "*.xlsx"},
    {NULL, "*.pptx"},
    {NULL, "*.odt"},
    {NULL, "*.ods"},
    {NULL, "*.odp"},
    {NULL, "*.epub"},
    {"Archives", "*.zip"},
    {NULL, "*.tar"},
    {NULL, "*.tar.gz"},
    {NULL, "*.tgz"},
    {NULL, "*.tar.bz2"},
    {NULL, "*.tar.xz"},
    {NULL, "*.7z"},
    {NULL, "*.gz"},
    {NULL, "*.bz2"},
    {NULL, "*.xz"},
    {"Scientific data", "*.h5"},
    {NULL, "*.hdf5"},
    {NULL, "*.nc"},
    {NULL, "*.npy"},
    {NULL, "*.npz"},
    {NULL, "*.parquet"},
    {NULL, "*.feather"},
    {NULL, "*.arrow"},
    {NULL, "*.zarr"},
    {NULL, "*.mat"},
    {"Images", "*.png"},
    {NULL, "*.jpg"},
    {NULL, "*.jpeg"},
    {NULL, "*.tiff"},
    {NULL, "*.tif"},
    {NULL, "*.gif"},
    {NULL, "*.bmp"},
    {NULL, "*.psd"},
    {NULL, "*.webp"},
    {NULL, "*.heic"},
    {"CAD and 3D", "*.step"},
    {NULL, "*.stp"},
    {NULL, "*.iges"},
    {NULL, "*.igs"},
    {NULL, "*.stl"},
    {NULL, "*.dwg"},
    {NULL, "*.dxf"},
    {NULL, "*.3mf"},
    {NULL, "*.obj"},
    {NULL, "*.fbx"},
    {NULL, "*.glb"},
    {NULL, "*.gltf"},
    {"Weights of models", "*.onnx"},
    {NULL, "*.safetensors"},
    {NULL, "*.ckpt"},
    {NULL, "*.pt"},
    {NULL, "*.pth"},
    {NULL, "*.bin"},
    {"Audio and video", "*.mp3"},
    {NULL, "*.wav"},
    {NULL, "*.flac"},
    {NULL, "*.mp4"},
    {NULL, "*.mov"},
    {NULL, "*.mkv"},
    {NULL, "*.webm"},
};

const char *vcm_template_pattern(size_t index)
{
    return index < sizeof formats / sizeof formats[0] ? formats[index].pattern : NULL;
}

void vcm_template_attributes(struct vcm_buf *out)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].group)
            vcm_buf_append_format(out, "%s# %s\n", i > 0 ? "\n" : "", formats[i].group);
        vcm_buf_append_format(out, "%s filter=lfs diff=lfs merge=lfs -text\n", formats[i].pattern);
    }
}
