// Prints what go/types knows of the packages below a directory, as lines of JSON for precision.py:
// [kind, path, line, name, symbol, extra].
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

var root string

func put(values ...interface{}) {
	text, _ := json.Marshal(values)
	fmt.Println(string(text))
}

// The place of an object, which is its symbol; "" outside of the directory.
func symbolOf(files *token.FileSet, object types.Object) string {
	if object == nil || !object.Pos().IsValid() {
		return ""
	}
	place := files.Position(object.Pos())
	path, err := filepath.Rel(root, place.Filename)
	if err != nil || strings.HasPrefix(path, "..") {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", path, place.Line, place.Column)
}

// Whether other functions can see it.
func isGlobal(object types.Object) bool {
	switch thing := object.(type) {
	case *types.PkgName, *types.Label:
		return false
	case *types.Var:
		return thing.IsField() || thing.Pkg() != nil && thing.Parent() == thing.Pkg().Scope()
	case *types.Func:
		return true
	default:
		return object.Pkg() != nil && object.Parent() == object.Pkg().Scope()
	}
}

func show(files *token.FileSet, parsed []*ast.File, info *types.Info) {
	members, calls := map[*ast.Ident]bool{}, map[*ast.Ident]bool{}
	for _, file := range parsed {
		ast.Inspect(file, func(node ast.Node) bool {
			switch one := node.(type) {
			case *ast.SelectorExpr:
				members[one.Sel] = true
			case *ast.CallExpr:
				switch called := one.Fun.(type) {
				case *ast.Ident:
					calls[called] = true
				case *ast.SelectorExpr:
					calls[called.Sel] = true
				}
			}
			return true
		})
	}
	for ident, object := range info.Defs {
		if object == nil || ident.Name == "_" {
			continue
		}
		place := files.Position(ident.Pos())
		path, _ := filepath.Rel(root, place.Filename)
		symbol := ""
		if isGlobal(object) {
			symbol = symbolOf(files, object)
		}
		put("def", path, place.Line, ident.Name, symbol, nil)
	}
	for ident, object := range info.Uses {
		if !isGlobal(object) {
			continue
		}
		place := files.Position(ident.Pos())
		path, _ := filepath.Rel(root, place.Filename)
		symbol := symbolOf(files, object)
		if symbol == "" {
			symbol = "outside"
		}
		put("ref", path, place.Line, ident.Name, symbol, []bool{members[ident], calls[ident]})
	}
}

func main() {
	root, _ = filepath.Abs(os.Args[1])
	os.Chdir(root)
	files := token.NewFileSet()
	from := importer.ForCompiler(files, "source", nil)
	filepath.Walk(root, func(path string, entry os.FileInfo, err error) error {
		if err != nil || !entry.IsDir() {
			return nil
		}
		if entry.Name() == "vendor" || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		packages, _ := parser.ParseDir(files, path, nil, 0)
		for _, one := range packages {
			parsed := []*ast.File{}
			for _, file := range one.Files {
				parsed = append(parsed, file)
			}
			info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
			config := types.Config{Importer: from, Error: func(error) {}, FakeImportC: true}
			config.Check(path, files, parsed, info)
			show(files, parsed, info)
		}
		return nil
	})
}
