// Runs kernelgen on small kernels: every gate is tripped once, and what should pass does.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/kernelgen/workshop.h"
#include "tools/kernelgen/enums.h"
#include "tools/kernelgen/error.h"
#include "tools/kernelgen/files.h"
#include "tools/kernelgen/interfaces.h"
#include "tools/kernelgen/manifest.h"
#include "tools/kernelgen/process.h"
#include "tools/kernelgen/spirv.h"

using namespace kernelgen;

namespace {

std::vector<fs::path> caseFiles() {
  std::vector<fs::path> files;
  for (const auto& item : fs::directory_iterator(fs::path(DIMPLE_TEST_SOURCE_DIR) / "kernelgen" / "cases"))
    files.push_back(item.path());
  std::ranges::sort(files);
  return files;
}

// The values of the lines `// key: value` at the head of a file.
std::vector<std::string> headValues(const std::string& text, const std::string& key) {
  std::vector<std::string> values;
  std::istringstream lines(text);
  const std::string prefix = "// " + key + ": ";
  for (std::string line; std::getline(lines, line) && line.starts_with("//");)
    if (line.starts_with(prefix)) values.push_back(line.substr(prefix.size()));
  return values;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

// The options that make kernelgen run the DXC of the build; none where it has no DXC.
const std::vector<std::string>& dxcOptions() {
  static const std::vector<std::string> options = [] {
    std::vector<std::string> list;
    std::istringstream stream(DIMPLE_DXC_OPTIONS);
    for (std::string option; std::getline(stream, option, '|');) list.push_back(option);
    if (list.empty()) std::printf("The tests of DXC are skipped: the build has none (tools/setup.sh --d3d12).\n");
    return list;
  }();
  return options;
}

// A form for each value of a macro.
std::string valueForms(const std::vector<int>& values) {
  std::string lines;
  for (const int value : values)
    lines += " form v" + std::to_string(value) + "\n define VALUE=" + std::to_string(value) + "\n";
  return lines;
}

}  // namespace

TEST_CASE("every case of tests/kernelgen/cases") {
  for (const fs::path& file : caseFiles()) {
    CAPTURE(file.filename().string());
    const std::string source = readText(file);
    std::string manifest = "kernel case\n  source case.comp\n";
    for (const std::string& line : headValues(source, "line")) manifest += "  " + line + "\n";
    std::vector<std::string> options;
    for (const std::string& option : headValues(source, "option"))
      for (const std::string& word : words(option)) options.push_back(word);

    const Workshop workshop;
    workshop.write("case.comp", source);
    workshop.write("manifest.txt", manifest);
    const ProcessResult result = workshop.run(options);
    CAPTURE(result.output);
    const auto expected = headValues(source, "expect");
    const auto facts = headValues(source, "kernels.txt");
    REQUIRE(expected.size() + facts.size() == 1);
    if (!expected.empty()) {
      CHECK(result.exitCode == 1);
      CHECK(result.output.find(expected[0]) != std::string::npos);
    } else {
      REQUIRE(result.exitCode == 0);
      const std::string list = workshop.read("kernels.txt");
      const auto found = words(list.substr(list.find('\n')));
      const auto wanted = words(facts[0]);
      REQUIRE(found.size() == wanted.size());
      for (size_t i = 0; i < wanted.size(); ++i)
        if (wanted[i] != "*") CHECK(found[i] == wanted[i]);
    }
  }
}

TEST_CASE("the values of a specialization constant are the case labels of its switch") {
  const Workshop workshop;
  workshop.write("case.comp", readText(fs::path(DIMPLE_TEST_SOURCE_DIR) / "kernelgen" / "cases" / "good.comp"));
  workshop.write("manifest.txt",
                 "kernel case\n source case.comp\n buffer r i64 a\n buffer rw f64 y\n push u32 count base\n"
                 " spec 0 structural u32 OP=DML_OPERATOR_ELEMENT_WISE_ADD operators\n"
                 " spec 1 uniform u32 FUSED 0 operators\n spec 2 structural u32 SIZE=64 64\n");
  const ProcessResult result = workshop.run();
  CAPTURE(result.output);
  REQUIRE(result.exitCode == 0);
  const std::string index = workshop.read("kernel_index.cpp");
  CHECK(index.find("k_case_values_0[] = {4u,30u,}") != std::string::npos);  // ADD and SUBTRACT, not MULTIPLY
  CHECK(index.find("k_case_values_1[] = {0u,44u,}") != std::string::npos);  // RELU
  CHECK(index.find("k_case_values_2[] = {64u,}") != std::string::npos);
}

TEST_CASE("a kernel is made again only when something it is made of changed") {
  const Workshop workshop;
  workshop.write("shared.glsl", "#define VALUE 1\n");
  workshop.write("a.comp", kernelGlsl("y[0] = VALUE;", "#include \"shared.glsl\"\n"));
  workshop.write("b.comp", kernelGlsl("y[0] = 7 * NUMBER;"));
  workshop.write("manifest.txt",
                 "kernel a\n source a.comp\n buffer w u32 y\nkernel b\n source b.comp\n buffer w u32 y\n"
                 " form one\n define NUMBER=1\n form two\n define NUMBER=2\n");
  const auto made = [&] {
    const ProcessResult result = workshop.run();
    INFO(result.output);
    REQUIRE(result.exitCode == 0);
    return result.output.substr(0, result.output.find(" from the cache"));
  };
  CHECK(made() == "kernelgen: 3 kernels, 3 compiled, 0");
  CHECK(workshop.exists("hlsl/b_two.hlsl"));
  const auto before = workshop.time("kernel_index.cpp");
  CHECK(made() == "kernelgen: 3 kernels, 0 compiled, 3");
  CHECK(workshop.time("kernel_index.cpp") == before);
  workshop.write("shared.glsl", "#define VALUE 2\n");
  CHECK(made() == "kernelgen: 3 kernels, 1 compiled, 2");
  workshop.write("b.comp", kernelGlsl("y[0] = 8 * NUMBER;"));
  CHECK(made() == "kernelgen: 3 kernels, 2 compiled, 1");
  workshop.write("manifest.txt",
                 "kernel b\n source b.comp\n buffer w u32 y\n form one\n define NUMBER=1\n vulkan-only\n");
  CHECK(made() == "kernelgen: 1 kernels, 1 compiled, 0");
  CHECK_FALSE(workshop.exists("hlsl/b_one.hlsl"));
  CHECK_FALSE(workshop.exists("spirv/a.spv"));
  CHECK(workshop.exists("spirv/b_one.spv"));
}

TEST_CASE("every failing kernel is reported, not only the first") {
  const Workshop workshop;
  workshop.write("a.comp", kernelGlsl("y[0] = none;"));
  workshop.write("manifest.txt",
                 "kernel a\n source a.comp\n buffer w u32 y\nkernel b\n source missing.comp\n buffer w u32 y\n");
  const ProcessResult result = workshop.run();
  CHECK(result.exitCode == 1);
  CHECK(result.output.find("The kernel a is refused by glslang") != std::string::npos);
  CHECK(result.output.find("The kernel b has the source missing.comp, which does not exist.") != std::string::npos);
  CHECK_FALSE(workshop.exists("kernel_index.cpp"));
}

TEST_CASE("DXIL is made of portable kernels, and again only when their HLSL changed" *
          doctest::skip(dxcOptions().empty())) {
  const std::vector<std::string>& options = dxcOptions();
  const Workshop workshop;
  workshop.write("a.comp", kernelGlsl("y[0] = VALUE * SCALE;", "layout(constant_id = 3) const uint SCALE = 1;\n"));
  // 16-bit storage, which only Shader Model 6.2 has.
  workshop.write("b.comp",
                 "#version 460\n#extension GL_EXT_shader_16bit_storage : require\nlayout(local_size_x = 1) in;\n"
                 "layout(set = 0, binding = 0, std430) buffer yBuffer { uint16_t y[]; };\n"
                 "void main() { y[0] = uint16_t(uint(y[1]) + 1u); }\n");
  workshop.write("manifest.txt",
                 "kernel a\n source a.comp\n buffer w u32 y\n spec 3 uniform u32 SCALE 1..5\n"
                 " form one\n define VALUE=1\n form two\n define VALUE=2\n vulkan-only\n"
                 "kernel b\n source b.comp\n buffer rw u16 y\n");
  const ProcessResult result = workshop.run(options);
  INFO(result.output);
  REQUIRE(result.exitCode == 0);
  CHECK(result.output.find("3 kernels, 3 compiled, 0 from the cache, 2 with DXIL") != std::string::npos);
  CHECK(workshop.read("dxil/a_one.dxil").starts_with("DXBC"));
  CHECK(workshop.read("dxil/b.dxil").starts_with("DXBC"));
  CHECK_FALSE(workshop.exists("dxil/a_two.dxil"));
  CHECK(workshop.run(options).output.find("3 kernels, 0 compiled, 3 from the cache, 2 with") != std::string::npos);
  // Without DXC the same SPIR-V is used, and the table has no DXIL.
  CHECK(workshop.run().output.find("3 kernels, 0 compiled, 3 from the cache, 0 with DXIL") != std::string::npos);
  CHECK_FALSE(workshop.exists("dxil/b.dxil"));
  workshop.write("a.comp", kernelGlsl("y[0] = VALUE + SCALE;", "layout(constant_id = 3) const uint SCALE = 1;\n"));
  CHECK(workshop.run(options).output.find("3 kernels, 2 compiled, 1 from the cache, 2 with") != std::string::npos);

  const std::string code = std::to_string(workshop.read("dxil/b.dxil").size());
  CHECK(
      workshop.read("kernels.txt").find("b " + std::to_string(workshop.read("spirv/b.spv").size() / 4) + " " + code) !=
      std::string::npos);
  std::vector<std::string> small = options;
  small.insert(small.end(), {"--max-bytes", std::to_string(workshop.read("spirv/b.spv").size() * 3)});
  CHECK(workshop.run(small).output.find("above the ceiling of") != std::string::npos);
}

TEST_CASE("a warning of DXC refuses the kernel, and the others are compiled" * doctest::skip(dxcOptions().empty())) {
  const std::vector<std::string>& options = dxcOptions();
  const Workshop workshop;
  // DXC warns of the constant switch that has no such case.
  workshop.write("a.comp", kernelGlsl("switch (3) { case 1: y[0] = 1; break; case 2: y[1] = 2; break; }"));
  workshop.write("b.comp", kernelGlsl("y[0] = 1;"));
  workshop.write("manifest.txt",
                 "kernel a\n source a.comp\n buffer w u32 y\nkernel b\n source b.comp\n buffer w u32 y\n");
  const ProcessResult result = workshop.run(options);
  CHECK(result.exitCode == 1);
  CAPTURE(result.output);
  CHECK(result.output.find("The kernel a is refused by DXC:") != std::string::npos);
  CHECK(result.output.find("kernel b") == std::string::npos);
  CHECK_FALSE(workshop.exists("kernel_index.cpp"));
}

// Batches of DXC take the mark away that forbids drivers to fuse what stands in the HLSL as one operation.
TEST_CASE("a sum with a product is one operation in the DXIL, and is not precise" *
          doctest::skip(dxcOptions().empty() || dxcOptions()[0] != "--dxc-batch")) {
  const Workshop workshop;
  workshop.write("a.comp",
                 "#version 460\nlayout(local_size_x = 1) in;\n"
                 "layout(set = 0, binding = 0, std430) readonly buffer xBuffer { float x[]; };\n"
                 "layout(set = 0, binding = 1, std430) writeonly buffer yBuffer { float y[]; };\n"
                 "void main() {\n"
                 "  y[0] = x[0] * x[1] + x[2];\n  y[1] = sqrt(x[3]) + x[4];\n"
                 "  precise float kept = x[5] * x[6] + x[7];\n  y[2] = kept;\n}\n");
  workshop.write("manifest.txt", "kernel a\n source a.comp\n buffer r f32 x\n buffer w f32 y\n");
  const ProcessResult made = workshop.run(dxcOptions());
  INFO(made.output);
  REQUIRE(made.exitCode == 0);
  const fs::path folder = workshop.folder() / "out" / "dxil";
  writeAtomically(folder / "list", "a -dumpbin\n");
  const ProcessResult dumped = runProcess({dxcOptions()[1], folder.string()});
  INFO(dumped.output);
  REQUIRE(dumped.exitCode == 0);

  int fused = 0, sums = 0, products = 0;
  std::istringstream lines(readText(folder / "a.ll"));
  for (std::string line; std::getline(lines, line);) {
    const auto has = [&](const char* text) { return line.find(text) != std::string::npos; };
    CAPTURE(line);
    if (has("call float @dx.op.tertiary.f32(i32 46,")) {
      ++fused;
      CHECK_FALSE(has("dx.precise"));
    }
    sums += has(" = fadd ");
    products += has(" = fmul ");
    // Without the mark, fast ones would be compared and divided otherwise.
    if (has(" = fadd ") || has(" = fmul ")) CHECK_FALSE(has("fast"));
  }
  CHECK(fused == 1);
  CHECK(sums == 2);
  CHECK(products == 1);
}

// That of a kernel with such a sum is assembled, that of another one compiled.
TEST_CASE("DXIL does not describe what it binds, and is signed without" * doctest::skip(dxcOptions().empty())) {
  const Workshop workshop;
  const auto source = [](const char* statement) {
    return std::string(
               "#version 460\nlayout(local_size_x = 1) in;\n"
               "layout(set = 0, binding = 0, std430) readonly buffer xBuffer { float x[]; };\n"
               "layout(set = 0, binding = 1, std430) writeonly buffer yBuffer { float y[]; };\nvoid main() { ") +
           statement + " }\n";
  };
  workshop.write("a.comp", source("y[0] = x[0] * x[1] + x[2];"));
  workshop.write("b.comp", source("y[0] = x[0];"));
  workshop.write("manifest.txt",
                 "kernel a\n source a.comp\n buffer r f32 x\n buffer w f32 y\n"
                 "kernel b\n source b.comp\n buffer r f32 x\n buffer w f32 y\n");
  const ProcessResult made = workshop.run(dxcOptions());
  INFO(made.output);
  REQUIRE(made.exitCode == 0);
  for (const char* name : {"dxil/a.dxil", "dxil/b.dxil"}) {
    const std::string code = workshop.read(name);
    CAPTURE(name);
    CHECK(code.find("DXIL") != std::string::npos);
    CHECK(code.find("STAT") == std::string::npos);
  }
}

#ifndef _WIN32
// Stands for DXC's own program: kernels that write 555 are refused, of 666 it warns, of 777 it makes nothing,
// and 888 it does not sign.
constexpr const char* kFakeDxc = R"(#!/bin/sh
[ "$1" = --version ] && echo "fake 1.0" && exit 0
echo "$@" >>"$(dirname "$0")/calls"
[ "$2" = -Fo ] || exit 2
grep -q '555u' "$1" && echo "it is five" && exit 1
grep -q '666u' "$1" && echo "it is six"
grep -q '777u' "$1" && exit 0
head='DXBC"\\\0 and more is signed'
grep -q '888u' "$1" && head='DXBC\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
printf "$head" >"$3"
)";

TEST_CASE("DXC's own program is run for every kernel") {
  const Workshop workshop;
  workshop.write("dxc", kFakeDxc);
  fs::permissions(workshop.folder() / "dxc", fs::perms::owner_all);
  const std::vector<std::string> options{"--dxc", (workshop.folder() / "dxc").string()};
  workshop.write("a.comp", kernelGlsl("y[0] = VALUE;"));
  workshop.write("manifest.txt",
                 "kernel a\n source a.comp\n buffer w u32 y\n" + valueForms({1, 2, 3}) + " vulkan-only\n");
  const ProcessResult result = workshop.run(options);
  INFO(result.output);
  REQUIRE(result.exitCode == 0);
  CHECK(result.output.find("3 kernels, 3 compiled, 0 from the cache, 2 with DXIL") != std::string::npos);
  const std::string calls = readText(workshop.folder() / "calls");
  CHECK(std::ranges::count(calls, '\n') == 2);
  CHECK(calls.find("-E main -HV 2018 -O2 -Gis -WX -Wno-ambig-lit-shift -Qstrip_reflect -T cs_6_0\n") !=
        std::string::npos);
  CHECK(workshop.read("dxil/a_v1.dxil") == std::string("DXBC\"\\\0 and more is signed", 26));
  const std::string index = workshop.read("kernel_index.cpp");
  CHECK(index.find("k_a_v1_modules[] = {{{}, false, false, {dxil_a_v1_0, ") != std::string::npos);
  CHECK(index.find("u, 26u}, 0u, 26u}, };") != std::string::npos);
  // A stream's first bytes are those of zlib.
  const std::string words = workshop.arrayOf("dxil_a_v1_0");
  CHECK(words.substr(0, words.find("u,")).ends_with("da78"));

  workshop.write("manifest.txt", "kernel a\n source a.comp\n buffer w u32 y\n" + valueForms({444, 555, 666, 777, 888}));
  const ProcessResult refused = workshop.run(options);
  CAPTURE(refused.output);
  CHECK(refused.exitCode == 1);
  CHECK(refused.output.find("The kernel a_v444") == std::string::npos);
  CHECK(refused.output.find("The kernel a_v555 is refused by DXC:\nit is five") != std::string::npos);
  CHECK(refused.output.find("The kernel a_v666 is refused by DXC:\nit is six") != std::string::npos);
  CHECK(refused.output.find("The DXIL of the kernel a_v888 is not signed") != std::string::npos);
  CHECK(refused.output.find("The kernel a_v777 got no DXIL of DXC, which says nothing.") != std::string::npos);
}

TEST_CASE("the program for batches of DXC fails") {
  const Workshop workshop;
  workshop.write("batch", "#!/bin/sh\necho no wine today\nexit 9\n");
  fs::permissions(workshop.folder() / "batch", fs::perms::owner_all);
  workshop.write("a.comp", kernelGlsl("y[0] = 1;"));
  workshop.write("manifest.txt", "kernel a\n source a.comp\n buffer w u32 y\n");
  const std::string batch = (workshop.folder() / "batch").string();
  const ProcessResult result = workshop.run({"--dxc-batch", batch, "--dxc-identity", "1"});
  CHECK(result.exitCode == 1);
  CHECK(result.output.find("The program " + batch + " failed with 9: no wine today") != std::string::npos);
}
#endif

TEST_CASE("every resource has a register in the HLSL") {
  const Workshop workshop;
  workshop.write("case.comp", readText(fs::path(DIMPLE_TEST_SOURCE_DIR) / "kernelgen" / "cases" / "good.comp"));
  workshop.write("manifest.txt",
                 "kernel case\n source case.comp\n buffer r i64 a\n buffer rw f64 y\n push u32 count base\n"
                 " spec 0 structural u32 OP=DML_OPERATOR_ELEMENT_WISE_ADD operators\n"
                 " spec 1 uniform u32 FUSED 0 operators\n spec 2 structural u32 SIZE=64 64\n");
  const ProcessResult result = workshop.run();
  CAPTURE(result.output);
  REQUIRE(result.exitCode == 0);
  const std::string hlsl = workshop.read("hlsl/case.hlsl");
  CAPTURE(hlsl);
  CHECK(hlsl.find("cbuffer Specialization : register(b1, space0)\n{\n    uint specialization_0;\n"
                  "    uint specialization_1;\n    uint specialization_2;\n};\n") == 0);
  CHECK(hlsl.find("#define SPIRV_CROSS_CONSTANT_ID_2 (64u)\n") != std::string::npos);
  CHECK(hlsl.find("\ncbuffer Push : register(b0, space0)\n") != std::string::npos);
  CHECK(hlsl.find("\ncbuffer Parameters : register(b0, space1)\n") != std::string::npos);
  CHECK(hlsl.find("RWByteAddressBuffer _") != std::string::npos);
  CHECK(hlsl.find(" : register(u0, space0);") != std::string::npos);
  CHECK(hlsl.find(" : register(u1, space0);") != std::string::npos);
}

TEST_CASE("only kernels that call umulExtended get a definition of it in HLSL") {
  const Workshop workshop;
  workshop.write("plain.comp", kernelGlsl("y[0] = 1;"));
  workshop.write("wide.comp",
                 kernelGlsl("uint high, low; umulExtended(gl_GlobalInvocationID.x, 3u, high, low); y[0] = high;"));
  workshop.write(
      "manifest.txt",
      "kernel plain\n source plain.comp\n buffer w u32 y\nkernel wide\n source wide.comp\n buffer w u32 y\n");
  const ProcessResult result = workshop.run();
  CAPTURE(result.output);
  REQUIRE(result.exitCode == 0);
  const std::string_view definition = "void umulExtended(uint a, uint b, out uint high, out uint low)\n{\n";
  CHECK(workshop.read("hlsl/plain.hlsl").find("umulExtended") == std::string::npos);
  const std::string wide = workshop.read("hlsl/wide.hlsl");
  CAPTURE(wide);
  CHECK(wide.find(definition) < wide.rfind("umulExtended("));
}

TEST_CASE("a sum with a product that nothing else reads is one operation in HLSL, unless it is precise") {
  const Workshop workshop;
  workshop.write("sums.comp", R"(#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
layout(local_size_x = 64) in;
layout(set = 0, binding = BINDING_x, std430) readonly buffer xBuffer { float x[]; };
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yBuffer { float y[]; };
void main() {
  const float a = x[0];
  const float b = x[1];
  const float c = x[2];
  const float once = a * b + c;
  const float less = c - a * b;
  const float minus = a * b - c;
  vec4 scaled = vec4(x[3], x[4], x[5], x[6]);
  scaled += vec4(b, c, a, b) * c;
  precise const float two = b * a + c;
  const float product = c * a;
  y[0] = once + less + minus + scaled.x + scaled.y + scaled.z + scaled.w + two + product + (product + b);
}
)");
  workshop.write("manifest.txt", "kernel sums\n source sums.comp\n buffer r f32 x\n buffer w f32 y\n");
  const ProcessResult result = workshop.run();
  CAPTURE(result.output);
  REQUIRE(result.exitCode == 0);
  const std::string hlsl = workshop.read("hlsl/sums.hlsl");
  CAPTURE(hlsl);
  for (const std::string text :
       {"once = mad(a, b, c);", "less = mad(-a, b, c);", "minus = mad(a, b, -c);",
        "scaled = mad(float4(b, c, a, b), c.xxxx, scaled);", " = b * a;", "product = c * a;", "(product + b)"}) {
    CAPTURE(text);
    CHECK(hlsl.find(text) != std::string::npos);
  }
}

TEST_CASE("headers of interfaces are written without the shaders, and only where they changed") {
  const Workshop workshop;
  const auto generate = [&](const std::string& manifest) {
    workshop.write("manifest.txt", manifest);
    const ProcessResult result =
        runProcess({DIMPLE_KERNELGEN, "--manifest", (workshop.folder() / "manifest.txt").string(), "--directml",
                    DIMPLE_DIRECTML_HEADER, "--interfaces", (workshop.folder() / "out").string()});
    CAPTURE(result.output);
    REQUIRE(result.exitCode == 0);
  };
  const std::string a = "kernel few_rows\n source none.comp\n buffer r T x\n type f32\n";
  generate(a + "kernel b\n source none.comp\n buffer w T y\n push u32 count\n packed-of few_rows\n");
  const std::string header = "kernels/interfaces/few_rows.h";
  CHECK(workshop.read(header).find("struct FewRows {") != std::string::npos);
  CHECK(workshop.read("kernels/interfaces/ids.h").find("  FewRows = 0,\n  B = 1,\n") != std::string::npos);
  CHECK(workshop.read("kernels/interfaces/ids.h")
            .find("if (kernel.family == KernelFamily::B && kernel.form == 0) return KernelFamily::FewRows;") !=
        std::string::npos);
  CHECK(workshop.read("kernels/kernel_names.cpp").find("\"few_rows.f32\"") != std::string::npos);
  const auto before = workshop.time(header);
  const auto beforeIds = workshop.time("kernels/interfaces/ids.h");
  generate(a + "kernel b\n source none.comp\n buffer w T y\n push u32 rows\n packed-of few_rows\n");
  CHECK(workshop.time(header) == before);
  CHECK(workshop.time("kernels/interfaces/ids.h") == beforeIds);
  CHECK(workshop.read("kernels/interfaces/b.h").find("Word<uint32_t> rows;") != std::string::npos);
  generate(a);
  CHECK_FALSE(workshop.exists("kernels/interfaces/b.h"));
}

TEST_CASE("constants in HLSL have the type that the manifest gives them") {
  const Workshop workshop;
  workshop.write("case.comp", kernelGlsl("y[0] = uint(SHIFT) + uint(STEP);", "#include \"interface.glsl\"\n"));
  workshop.write("manifest.txt",
                 "kernel case\n source case.comp\n buffer w u32 y\n spec 4 uniform f32 STEP=0.5 0.5 -1e3\n"
                 " spec 1 structural i32 SHIFT=-3 -3 1\n");
  const ProcessResult result = workshop.run();
  CAPTURE(result.output);
  REQUIRE(result.exitCode == 0);
  CHECK(workshop.read("hlsl/case.hlsl").find("{\n    int specialization_1;\n    float specialization_4;\n};\n") !=
        std::string::npos);
  const std::string index = workshop.read("kernel_index.cpp");
  CHECK(index.find("k_case_values_4[] = {1056964608u,3296329728u,}") != std::string::npos);
  CHECK(index.find("{1u, \"SHIFT\", k_case_values_1, true}, {4u, \"STEP\", k_case_values_4, false}") !=
        std::string::npos);
  const std::string check = workshop.read("interface_check.cpp");
  CHECK(check.find("static_assert(offsetof(kernels::Case::Spec, step) == 4);") != std::string::npos);
  CHECK(check.find("static_assert(kernels::Case::kSpecIds[1] == 4);") != std::string::npos);
}

TEST_CASE("enumerators of the header") {
  const Enums enums = Enums::parse(
      "enum DML_ONE { // enum DML_NOT { DML_NOT_THIS }\n  DML_ONE_A, DML_ONE_B = 0x10,\n#if 0\n DML_ONE_C,\n#endif\n"
      "/* , */ DML_ONE_D = DML_ONE_A, DML_ONE_E\n};\nenum DML_TWO\n{ DML_TWO_A = 7 };");
  CHECK(enums.glsl() ==
        "// Generated from DirectML.h.\n#define DML_ONE_A 0\n#define DML_ONE_B 16\n#define DML_ONE_C 17\n"
        "#define DML_ONE_D 0\n#define DML_ONE_E 1\n#define DML_TWO_A 7\n");
  CHECK_THROWS_AS(Enums::parse("enum DML_A { DML_A_X = 1 << 2 };"), Error);
  CHECK_THROWS_AS(Enums::parse("int x;"), Error);

  const Enums real = Enums::parse(readText(DIMPLE_DIRECTML_HEADER));
  REQUIRE(real.find("DML_OPERATOR_ELEMENT_WISE_ADD"));
  CHECK(real.find("DML_OPERATOR_ELEMENT_WISE_ADD")->value == 4);
  CHECK(real.find("DML_REDUCE_FUNCTION_SUM_SQUARE"));
}

TEST_CASE("a stripped module keeps its code") {
  // Header, OpCapability Shader, OpName %1 "a", OpSource, OpTypeVoid %1.
  const std::vector<uint32_t> module{0x07230203, 0x10500, 0,       2, 0,   0x20011, 1, 0x30005,
                                     1,          0x61,    0x30003, 2, 460, 0x20013, 1};
  const std::vector<uint32_t> stripped{0x07230203, 0x10500, 0, 2, 0, 0x20011, 1, 0x20013, 1};
  CHECK(stripModule(module) == stripped);
  CHECK_THROWS_AS(stripModule(std::vector<uint32_t>{1, 2, 3, 4, 5}), Error);
  CHECK_THROWS_AS(stripModule(std::vector<uint32_t>{0x07230203, 0x10500, 0, 2, 0, 0x50011, 1}), Error);
}

TEST_CASE("wrong options are refused in a sentence") {
  const ProcessResult unknown = runProcess({DIMPLE_KERNELGEN, "--colour", "red"});
  CHECK(unknown.exitCode == 1);
  CHECK(unknown.output.find("The option --colour is not known.") != std::string::npos);
  const ProcessResult missing = runProcess({DIMPLE_KERNELGEN});
  CHECK(missing.exitCode == 1);
  CHECK(missing.output.find("is missing.") != std::string::npos);
  const Workshop workshop;
  workshop.write("manifest.txt", "");
  CHECK(workshop.run({"--dxc-batch", "x"}).output.find("The option --dxc-batch needs --dxc-identity.") !=
        std::string::npos);
  CHECK(workshop.run({"--dxc-batch", "x", "--dxc", "y"}).output.find("exclude each other.") != std::string::npos);
  CHECK(workshop.run({"--dxc", "/does/not/exist"}).output.find("cannot be started") != std::string::npos);
}
