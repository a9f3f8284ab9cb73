//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package pjrt

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

// The layout in abi.h equals the layout of the header with which go-xla was built.
func TestLayoutIsThatOfPJRT(t *testing.T) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip(err)
	}
	folder := must.M1(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/gomlx/go-xla").Output())
	here := must.M1(filepath.Abs("abi.h"))
	var c strings.Builder
	fmt.Fprintf(&c, "#include %q\n#include %q\n", filepath.Join(strings.TrimSpace(string(folder)), "pjrt",
		"pjrt_c_api.h"), here)
	equal := func(ours, theirs string) { fmt.Fprintf(&c, "_Static_assert(%s == %s, %q);\n", ours, theirs, theirs) }
	for place, name := range map[string]string{
		"ERROR_DESTROY": "Error_Destroy", "CLIENT_PLATFORM_NAME": "Client_PlatformName",
		"CLIENT_PLATFORM_VERSION":    "Client_PlatformVersion",
		"CLIENT_ADDRESSABLE_DEVICES": "Client_AddressableDevices", "CLIENT_COMPILE": "Client_Compile",
		"DEVICE_DESCRIPTION_KIND":         "DeviceDescription_Kind",
		"DEVICE_DESCRIPTION_DEBUG_STRING": "DeviceDescription_DebugString",
		"DEVICE_GET_DESCRIPTION":          "Device_GetDescription", "EXECUTABLE_DESTROY": "Executable_Destroy",
		"EXECUTABLE_SERIALIZE":             "Executable_Serialize",
		"LOADED_EXECUTABLE_GET_EXECUTABLE": "LoadedExecutable_GetExecutable",
		"EXECUTABLE_DESERIALIZE_AND_LOAD":  "Executable_DeserializeAndLoad",
	} {
		equal("offsetof(api, functions) + "+place+" * sizeof(function)", "offsetof(PJRT_Api, PJRT_"+name+")")
	}
	equal("offsetof(api, version.minor_version)", "offsetof(PJRT_Api, pjrt_api_version.minor_version)")
	for _, pair := range [][2]string{
		{"error_destroy_args: error", "PJRT_Error_Destroy_Args: error"},
		{"program: code code_size format format_size", "PJRT_Program: code code_size format format_size"},
		{"compile_args: client program options options_size executable",
			"PJRT_Client_Compile_Args: client program compile_options compile_options_size executable"},
		{"text_args: object text text_size", "PJRT_Client_PlatformName_Args: client platform_name platform_name_size"},
		{"text_args: object text text_size",
			"PJRT_Client_PlatformVersion_Args: client platform_version platform_version_size"},
		{"text_args: object text text_size",
			"PJRT_DeviceDescription_Kind_Args: device_description device_kind device_kind_size"},
		{"text_args: object text text_size",
			"PJRT_DeviceDescription_DebugString_Args: device_description debug_string debug_string_size"},
		{"devices_args: client devices devices_size",
			"PJRT_Client_AddressableDevices_Args: client addressable_devices num_addressable_devices"},
		{"get_args: object result", "PJRT_Device_GetDescription_Args: device device_description"},
		{"get_args: object result", "PJRT_LoadedExecutable_GetExecutable_Args: loaded_executable executable"},
		{"executable_destroy_args: executable", "PJRT_Executable_Destroy_Args: executable"},
		{"serialize_args: executable bytes bytes_size serialized deleter",
			"PJRT_Executable_Serialize_Args: executable serialized_bytes serialized_bytes_size serialized_executable serialized_executable_deleter"},
		{"load_args: client bytes bytes_size executable options options_size",
			"PJRT_Executable_DeserializeAndLoad_Args: client serialized_executable serialized_executable_size loaded_executable " +
				"overridden_serialized_compile_options overridden_serialized_compile_options_size"},
	} {
		ourType, ourFields, _ := strings.Cut(pair[0], ":")
		theirType, theirFields, _ := strings.Cut(pair[1], ":")
		equal("sizeof("+ourType+")", "sizeof("+theirType+")")
		their := strings.Fields(theirFields)
		for i, field := range strings.Fields(ourFields) {
			equal(fmt.Sprintf("offsetof(%s, %s)", ourType, field), fmt.Sprintf("offsetof(%s, %s)", theirType, their[i]))
		}
	}
	file := filepath.Join(t.TempDir(), "layout.c")
	must.M(os.WriteFile(file, []byte(c.String()), 0o600))
	if out, err := exec.Command(compiler, "-fsyntax-only", file).CombinedOutput(); err != nil {
		t.Errorf("the compiler failed: %v\n%s", err, out)
	}
}
