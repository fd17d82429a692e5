package crealm_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Runs the programs of docs/go.md.
func TestTheProgramsOfTheGuideRun(t *testing.T) {
	guide := string(must(os.ReadFile("../../docs/go.md")))
	programs := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(guide, -1)
	if len(programs) < 3 {
		t.Fatal(len(programs), "programs")
	}
	outputs := []string{"Ann 31 [swims]\n", "new: [0]\n", "Ann High Street [1 2.5]\n"}
	module := fmt.Sprintf("module guide\n\ngo 1.23\n\nrequire crealm v0.1.0\n\nreplace crealm => %s\n", must(filepath.Abs(".")))
	for index, program := range programs {
		folder := t.TempDir()
		for name, text := range map[string]string{"go.mod": module, "main.go": program[1]} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		command := exec.Command("go", "run", ".")
		command.Dir = folder
		output, err := command.CombinedOutput()
		if err != nil || !strings.Contains(string(output), outputs[index]) {
			t.Errorf("program %d: %v\n%s", index+1, err, output)
		}
	}
}
