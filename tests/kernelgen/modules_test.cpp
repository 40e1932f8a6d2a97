// Runs kernelgen on kernels that get modules in which constants are literals.
#include <doctest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/kernelgen/workshop.h"

using namespace kernelgen;

namespace {

// A shell script that stands for DXC and copies what it is given, and kernels a with constants of which it reads two.
class ModulesWorkshop : public Workshop {
 public:
  ModulesWorkshop() {
    write("dxc",
          "#!/bin/sh\n[ \"$1\" = --version ] && echo 1.0 && exit 0\n"
          "echo \"$*\" >>\"$(dirname \"$0\")/calls\"\n(printf 'DXBCsigned for a test'; cat \"$1\") >\"$3\"\n");
    fs::permissions(folder() / "dxc", fs::perms::owner_all);
    write("a.comp", kernelGlsl("y[0] = ROWS + uint(LEAST);",
                               "layout(constant_id = 3) const uint ROWS = 1;\n"
                               "layout(constant_id = 7) const int LEAST = 0;\n"));
    write("manifest.txt",
          "kernel a\n source a.comp\n buffer w u32 y\n spec 3 structural u32 ROWS 1 2 4\n"
          " spec 7 uniform i32 LEAST -1 0\n form one\n form two\n vulkan-only\n");
  }
  ProcessResult make(const std::string& modules, std::vector<std::string> options = {}) const {
    write("modules.txt", modules);
    options.insert(options.end(),
                   {"--dxc", (folder() / "dxc").string(), "--modules", (folder() / "modules.txt").string()});
    return run(options);
  }
};

}  // namespace

TEST_CASE("modules with literals for constants are made beside the one that reads them") {
  const ModulesWorkshop workshop;
  const ProcessResult result = workshop.make("# all rows\na_one ROWS=* LEAST=-1\na_one ROWS=2,4\n");
  INFO(result.output);
  REQUIRE(result.exitCode == 0);
  CHECK(result.output.find("1 with DXIL in 6 modules") != std::string::npos);
  const auto holds = [&](const std::string& module, const std::string& line) {
    return workshop.read("dxil/" + module + ".dxil").find("\n" + line + "\n") != std::string::npos;
  };
  const std::string rows = "#define SPIRV_CROSS_CONSTANT_ID_3 ";
  const std::string least = "#define SPIRV_CROSS_CONSTANT_ID_7 ";
  CHECK(holds("a_one", rows + "specialization_3"));
  CHECK(holds("a_one", least + "specialization_7"));
  CHECK(holds("a_one.3-2", rows + "(2u)"));
  CHECK(holds("a_one.3-2", least + "specialization_7"));
  CHECK(holds("a_one.3-4.7-4294967295", rows + "(4u)"));
  CHECK(holds("a_one.3-4.7-4294967295", least + "(-1)"));
  // Words stay where they are, so that one buffer serves all modules.
  CHECK(holds("a_one.3-2", "    uint specialization_3;"));
  const std::string index = workshop.read("kernel_index.cpp");
  CHECK(index.find("FixedConstant k_a_one_fixed_1[] = {{3u, 1u}, {7u, 4294967295u}, };") != std::string::npos);
  CHECK(index.find("KernelModule k_a_one_modules[] = {{{}, false, false, {dxil_a_one_0, ") != std::string::npos);

  CHECK(workshop.make("a_one ROWS=2,4\n").exitCode == 0);
  CHECK_FALSE(workshop.exists("dxil/a_one.3-1.7-4294967295.dxil"));
  const std::string calls = readText(workshop.folder() / "calls");
  CHECK(std::ranges::count(calls, '\n') == 6);
}

TEST_CASE("modules with the word O3 are compiled with -O3") {
  const ModulesWorkshop workshop;
  const ProcessResult result = workshop.make("a_one ROWS=2 O3\na_one ROWS=4\n");
  INFO(result.output);
  REQUIRE(result.exitCode == 0);
  std::istringstream calls(readText(workshop.folder() / "calls"));
  for (std::string call; std::getline(calls, call);) {
    CAPTURE(call);
    CHECK((call.find(" -O3 ") != call.npos) == (call.find("a_one.3-2.") != call.npos));
    CHECK((call.find(" -O2 ") != call.npos) == (call.find("a_one.3-2.") == call.npos));
  }
}

TEST_CASE("long modules are made of a kernel without DIMPLE_COMPACT") {
  const ModulesWorkshop workshop;
  const std::string constants =
      "layout(constant_id = 3) const uint ROWS = 1;\nlayout(constant_id = 7) const int LEAST = 0;\n";
  CHECK(workshop.make("a_one LONG\n").output.find("nothing of it depends on DIMPLE_COMPACT, and") != std::string::npos);
  workshop.write("a.comp", kernelGlsl("\n#if DIMPLE_COMPACT\ny[0] = 1234u;\n#elif DIMPLE_HLSL\ny[0] = 5678u;\n"
                                      "#endif\ny[1] = ROWS + uint(LEAST);",
                                      constants));
  const ProcessResult result = workshop.make("a_one LONG\na_one ROWS=2\na_one ROWS=2 LONG\n");
  INFO(result.output);
  REQUIRE(result.exitCode == 0);
  const auto holds = [&](const std::string& module, const std::string& text) {
    return workshop.read("dxil/" + module + ".dxil").find(text) != std::string::npos;
  };
  CHECK(holds("a_one", "1234"));
  CHECK(holds("a_one.3-2", "1234"));
  CHECK(holds("a_one.long", "5678"));
  CHECK(holds("a_one.3-2.long", "5678"));
  CHECK_FALSE(holds("a_one.3-2.long", "1234"));
  CHECK(holds("a_one.3-2.long", "#define SPIRV_CROSS_CONSTANT_ID_3 (2u)"));
  const std::string index = workshop.read("kernel_index.cpp");
  CHECK(index.find("KernelModule k_a_one_modules[] = {{{}, false, false, {dxil_a_one_0, ") != std::string::npos);
  CHECK(index.find("{{}, true, false, {dxil_a_one_0, ") != std::string::npos);
}

TEST_CASE("kernels that convert to FLOAT16 get their modules again, with the conversions of shader model 6.2") {
  const ModulesWorkshop workshop;
  const std::string start =
      "#version 460\n#extension GL_GOOGLE_include_directive : require\n#include \"interface.glsl\"\n"
      "layout(constant_id = 17) const uint ROUNDED_HALVES = 0u;\n"
      "layout(local_size_x = 1) in;\nlayout(set = 0, binding = 0, std430) buffer yBuffer { uint y[]; };\n";
  workshop.write("a.comp", start +
                               "void main() { if (ROUNDED_HALVES != 0u) y[0] = packHalf2x16(vec2(ROWS, LEAST)); else "
                               "y[0] = 1234u; }\n");
  workshop.write("b.comp", start + "void main() { y[0] = ROWS + uint(LEAST) + ROUNDED_HALVES; }\n");
  const std::string interface = " buffer rw u32 y\n spec 3 structural u32 ROWS 1 2\n spec 7 uniform i32 LEAST -1 0\n";
  workshop.write("manifest.txt", "kernel a\n source a.comp\n type f16\n native f16\n" + interface +
                                     "kernel b\n source b.comp\n type f16\n" + interface +
                                     "kernel c\n source a.comp\n type f16\n" + interface);
  const ProcessResult result =
      workshop.make("a.f16 ROWS=1\nb.f16 ROWS=1\nc.f16 ROWS=1\nc.f16 HALVES ROWS=2\na_native.f16 ROWS=2\n");
  INFO(result.output);
  REQUIRE(result.exitCode == 0);
  const auto converts = [&](const std::string& module) {
    const std::string hlsl = workshop.read("dxil/" + module + ".dxil");
    return hlsl.find("asuint16(half(") != hlsl.npos && hlsl.find("#define SPIRV_CROSS_CONSTANT_ID_17 1u") != hlsl.npos;
  };
  // Where there is a kernel for 16-bit storage, that one alone converts, and always.
  for (const char* module : {"a.f16", "a.f16.3-1", "b.f16", "b.f16.3-1", "c.f16", "c.f16.3-1"})
    CHECK_FALSE_MESSAGE(converts(module), module);
  for (const char* module :
       {"a_native.f16.halves", "a_native.f16.3-2.halves", "c.f16.halves", "c.f16.3-1.halves", "c.f16.3-2.halves"})
    CHECK_MESSAGE(converts(module), module);
  for (const char* module : {"a_native.f16", "a.f16.halves", "b.f16.halves", "c.f16.3-2"})
    CHECK_FALSE_MESSAGE(workshop.exists(std::string("dxil/") + module + ".dxil"), module);
  const std::string calls = readText(workshop.folder() / "calls");
  std::istringstream lines(calls);
  for (std::string call; std::getline(lines, call);)
    CHECK((call.find("cs_6_2 -enable-16bit-types") != call.npos) == (call.find(".halves.") != call.npos));
  const std::string index = workshop.read("kernel_index.cpp");
  CHECK(index.find("KernelModule k_c__f16_modules[] = {{{}, false, false, {dxil_c__f16_0, ") != index.npos);
  CHECK(index.find("KernelModule k_a_native__f16_modules[] = {{{}, false, true, {dxil_a_native__f16_0, ") !=
        index.npos);
}

TEST_CASE("long modules have 64-bit integers where others make products of 64 bits in parts") {
  const ModulesWorkshop workshop;
  const std::string constants =
      "layout(constant_id = 3) const uint ROWS = 1;\nlayout(constant_id = 7) const int LEAST = 0;\n";
  workshop.write("a.comp", kernelGlsl("uint high, low; umulExtended(ROWS, y[0], high, low); y[1] = high + uint(LEAST);",
                                      constants));
  const ProcessResult result = workshop.make("a_one LONG\na_one ROWS=2\n");
  INFO(result.output);
  REQUIRE(result.exitCode == 0);
  for (const std::string module : {"a_one", "a_one.3-2", "a_one.long"}) {
    CAPTURE(module);
    const std::string hlsl = workshop.read("dxil/" + module + ".dxil");
    CHECK((hlsl.find("uint64_t") != hlsl.npos) == (module == "a_one.long"));
    CHECK((hlsl.find("0xffffu") != hlsl.npos) == (module != "a_one.long"));
  }
}

TEST_CASE("a module is unpacked with few others") {
  const ModulesWorkshop workshop;
  // What differs between modules is short, and the rest of this length.
  const auto streams = [&](size_t bytes) {
    workshop.write("a.comp", kernelGlsl("y[0] = ROWS + uint(LEAST);",
                                        "layout(constant_id = 3) const uint ROWS = 1;\n"
                                        "layout(constant_id = 7) const int LEAST = 0;\n"));
    workshop.write("dxc", "#!/bin/sh\n[ \"$1\" = --version ] && echo " + std::to_string(bytes) +
                              " && exit 0\n(printf 'DXBCsigned for a test'; cat \"$1\"; head -c " +
                              std::to_string(bytes) + " /dev/zero) >\"$3\"\n");
    fs::permissions(workshop.folder() / "dxc", fs::perms::owner_all);
    const ProcessResult result = workshop.make("a_one ROWS=* LEAST=*\n");
    INFO(result.output);
    REQUIRE(result.exitCode == 0);
    int count = 0;
    while (!workshop.arrayOf("dxil_a_one_" + std::to_string(count)).empty()) ++count;
    return count;
  };
  CHECK(streams(160000) == 3);  // seven modules, three in a stream
  CHECK(streams(320000) == 7);
  CHECK(streams(560000) == 7);
  CHECK(streams(100) == 1);
}

TEST_CASE("errors of modules name the line") {
  const ModulesWorkshop workshop;
  const auto error = [&](const std::string& line, const std::vector<std::string>& options = {}) {
    const std::string output = workshop.make("\n" + line + "\n", options).output;
    const size_t at = output.find("modules.txt:2: ");
    return at == output.npos ? output : output.substr(at + 15, output.size() - at - 16);
  };
  CHECK(error("b ROWS=1") == "There is no kernel b.");
  CHECK(error("a_two ROWS=1") == "The kernel a_two is vulkan-only, so that no DXIL is made of it.");
  CHECK(error("a_one") == "The line names no constant.");
  CHECK(error("a_one O3") == "The line names no constant.");
  CHECK(workshop.make("a_one ROWS=1\na_one ROWS=1 O3\n")
            .output.find("modules.txt:2: The kernel a_one has such a module already.") != std::string::npos);
  CHECK(error("a_one COLUMNS=1") == "The word 'COLUMNS=1' is not NAME=VALUE,... of a constant of the kernel.");
  CHECK(error("a_one ROWS") == "The word 'ROWS' is not NAME=VALUE,... of a constant of the kernel.");
  CHECK(error("a_one ROWS=") == "The constant ROWS has no value.");
  CHECK(error("a_one ROWS=3") == "The value 3u is none that the manifest gives ROWS.");
  CHECK(error("a_one ROWS=1 ROWS=2") == "The constant ROWS stands twice in the line.");
  CHECK(error("a_one ROWS=1\na_one ROWS=1,2").find("modules.txt:3: The kernel a_one has such a module already.") !=
        std::string::npos);
  CHECK(error("a_one ROWS=*", {"--max-modules", "3"}) ==
        "kernelgen: There are 4 modules of DXIL, above the ceiling of 3.\n");
  CHECK(error("a_one HALVES ROWS=1") ==
        "kernelgen: The kernel a_one gets HALVES modules, but no devices take such modules of it.\n");
}

TEST_CASE("constants of one value are literals in all modules, also where they are the size of workgroups") {
  const ModulesWorkshop workshop;
  workshop.write("a.comp",
                 "#version 460\n#extension GL_GOOGLE_include_directive : require\n#include \"interface.glsl\"\n"
                 "layout(local_size_x = 256, local_size_x_id = INVOCATIONS_ID) in;\n"
                 "layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };\n"
                 "void main() { y[gl_LocalInvocationID.x] = INVOCATIONS * ROWS + uint(LEAST); }\n");
  workshop.write("manifest.txt",
                 "kernel a\n source a.comp\n buffer w u32 y\n spec 3 structural u32 ROWS 1 2\n"
                 " spec 7 uniform i32 LEAST -1\n spec 16 structural u32 INVOCATIONS=256 128\n");
  const ProcessResult result = workshop.make("a ROWS=2 LEAST=-1\n");
  INFO(result.output);
  REQUIRE(result.exitCode == 0);
  for (const char* module : {"a", "a.3-2.7-4294967295"}) {
    const std::string hlsl = workshop.read(std::string("dxil/") + module + ".dxil");
    CHECK(hlsl.find("\n#define SPIRV_CROSS_CONSTANT_ID_16 (128u)\n") != std::string::npos);
    CHECK(hlsl.find("\n#define SPIRV_CROSS_CONSTANT_ID_7 (-1)\n") != std::string::npos);
    CHECK(hlsl.find("\n[numthreads(SPIRV_CROSS_CONSTANT_ID_16, 1, 1)]\n") != std::string::npos);
    CHECK(hlsl.find("\n    uint specialization_16;\n") != std::string::npos);
  }
}

TEST_CASE("views of a buffer are one buffer in HLSL") {
  const ModulesWorkshop workshop;
  workshop.write("a.comp", readText(fs::path(DIMPLE_TEST_SOURCE_DIR) / "kernelgen" / "cases" / "buffer_views.comp"));
  workshop.write("manifest.txt", "kernel a\n source a.comp\n buffer w u32,u32x4 y\n");
  const ProcessResult result = workshop.make("");
  INFO(result.output);
  REQUIRE(result.exitCode == 0);
  const std::string hlsl = workshop.read("dxil/a.dxil");
  const std::string declared = "\nRWByteAddressBuffer ";
  const size_t first = hlsl.find(declared);
  REQUIRE(first != std::string::npos);
  CHECK(hlsl.find(declared, first + 1) == std::string::npos);
  const size_t begin = first + declared.size();
  const std::string name = hlsl.substr(begin, hlsl.find(' ', begin) - begin);
  CHECK(hlsl.find(" " + name + "\n", begin) != std::string::npos);
}
