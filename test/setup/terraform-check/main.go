// Reads a Terraform module as Terraform does, with HashiCorp's own parser: syntax, formatting, references, and what each
// attribute is with the values given. What only the providers know (names and types of attributes) is not checked.
//
//	terraform-check FOLDER VALUES.json   // values: {"var": {...}, "data": {"type": {"name": {...}}}}
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

type report struct {
	Problems    []string                  `json:"problems"`
	Unformatted []string                  `json:"unformatted"`
	Names       []string                  `json:"names"`
	Values      map[string]map[string]any `json:"values"`
}

func main() {
	out := report{Problems: []string{}, Unformatted: []string{}, Names: []string{}, Values: map[string]map[string]any{}}
	files, err := filepath.Glob(filepath.Join(os.Args[1], "*.tf"))
	if err != nil || len(files) == 0 {
		fail(fmt.Errorf("no .tf files in %s: %v", os.Args[1], err))
	}
	parser := hclparse.NewParser()
	var blocks []*hclsyntax.Block
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			fail(err)
		}
		if !bytes.Equal(hclwrite.Format(source), source) {
			out.Unformatted = append(out.Unformatted, filepath.Base(name))
		}
		file, diagnostics := parser.ParseHCL(source, filepath.Base(name))
		out.note(diagnostics)
		if file != nil {
			blocks = append(blocks, file.Body.(*hclsyntax.Body).Blocks...)
		}
	}
	known := map[string]bool{}
	for _, block := range blocks {
		if name := address(block); name != "" {
			if known[name] {
				out.Problems = append(out.Problems, "declared twice: "+name)
			}
			known[name] = true
			out.Names = append(out.Names, name)
		}
		if block.Type == "locals" {
			for local := range block.Body.Attributes {
				known["local."+local] = true
			}
		}
	}
	sort.Strings(out.Names)
	context := contextOf(known, os.Args[2])
	for _, block := range blocks {
		values := map[string]any{}
		out.look(block.Body, context, known, "", values)
		if name := address(block); name != "" {
			out.Values[name] = values
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(out)
}

// address is how other blocks name this one.
func address(block *hclsyntax.Block) string {
	switch {
	case block.Type == "resource" && len(block.Labels) == 2:
		return block.Labels[0] + "." + block.Labels[1]
	case block.Type == "data" && len(block.Labels) == 2:
		return "data." + block.Labels[0] + "." + block.Labels[1]
	case block.Type == "variable" && len(block.Labels) == 1:
		return "var." + block.Labels[0]
	case block.Type == "output" && len(block.Labels) == 1:
		return "output." + block.Labels[0]
	}
	return ""
}

func (out *report) look(body *hclsyntax.Body, context *hcl.EvalContext, known map[string]bool, path string, values map[string]any) {
	for name, attribute := range body.Attributes {
		if name == "type" && path == "" && len(attribute.Expr.Variables()) == 1 {
			continue // a type constraint of a variable
		}
		isKnown := true
		for _, traversal := range attribute.Expr.Variables() {
			if missing := unknownName(traversal, known); missing != "" {
				isKnown = false
				out.Problems = append(out.Problems, fmt.Sprintf("%s: %s is not declared", attribute.SrcRange, missing))
			}
		}
		if !isKnown {
			continue
		}
		value, diagnostics := attribute.Expr.Value(context)
		out.note(diagnostics)
		if !diagnostics.HasErrors() && value.IsWhollyKnown() {
			text, err := ctyjson.Marshal(value, value.Type())
			if err == nil {
				values[path+name] = json.RawMessage(text)
			}
		}
	}
	for _, block := range body.Blocks {
		out.look(block.Body, context, known, path+block.Type+".", values)
	}
}

func unknownName(traversal hcl.Traversal, known map[string]bool) string {
	parts := []string{traversal.RootName()}
	for _, step := range traversal[1:] {
		if attribute, ok := step.(hcl.TraverseAttr); ok {
			parts = append(parts, attribute.Name)
		}
	}
	switch parts[0] {
	case "each", "count", "path", "terraform", "self", "string", "number", "bool", "any":
		return ""
	}
	length := 2
	if parts[0] == "data" {
		length = 3
	}
	if len(parts) < length {
		return parts[0]
	}
	name := parts[0]
	for _, part := range parts[1:length] {
		name += "." + part
	}
	if known[name] {
		return ""
	}
	return name
}

// contextOf has what is given, and something unknown for every other name.
func contextOf(known map[string]bool, file string) *hcl.EvalContext {
	text, err := os.ReadFile(file)
	if err != nil {
		fail(err)
	}
	kind, err := ctyjson.ImpliedType(text)
	if err != nil {
		fail(err)
	}
	given, err := ctyjson.Unmarshal(text, kind)
	if err != nil {
		fail(err)
	}
	variables := given.AsValueMap()
	for _, root := range []string{"each", "count", "path", "terraform", "self", "local"} {
		variables[root] = cty.DynamicVal
	}
	for name := range known {
		var root string
		for at, letter := range name {
			if letter == '.' {
				root = name[:at]
				break
			}
		}
		if _, ok := variables[root]; !ok {
			variables[root] = cty.DynamicVal
		}
	}
	functions := map[string]function.Function{
		"jsonencode": stdlib.JSONEncodeFunc, "concat": stdlib.ConcatFunc, "join": stdlib.JoinFunc, "merge": stdlib.MergeFunc,
		"format": stdlib.FormatFunc, "coalesce": stdlib.CoalesceFunc, "length": stdlib.LengthFunc, "replace": stdlib.ReplaceFunc,
		"toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
	}
	return &hcl.EvalContext{Variables: variables, Functions: functions}
}

func (out *report) note(diagnostics hcl.Diagnostics) {
	for _, each := range diagnostics {
		out.Problems = append(out.Problems, each.Error())
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
