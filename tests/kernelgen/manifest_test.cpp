// Manifests of kernels: what is refused names the line, and what is taken expands into forms and types.
#include <doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/kernelgen/enums.h"
#include "tools/kernelgen/error.h"
#include "tools/kernelgen/interfaces.h"
#include "tools/kernelgen/manifest.h"

using namespace kernelgen;

namespace {

std::string manifestError(const std::string& text) {
  static const Enums enums = Enums::parse("enum DML_A { DML_A_X = 3 };");
  try {
    parseManifest(text, "m.txt", enums);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("errors of the manifest name the line") {
  CHECK(manifestError("source a.comp\n") == "m.txt:1: The line 'source' stands outside a kernel.");
  CHECK(manifestError("kernel a\n  buffer r T x\n").ends_with("The kernel a has no source."));
  CHECK(manifestError("kernel a\n  source a.comp\n").ends_with("The kernel a declares no buffers."));
  CHECK(manifestError("kernel A\n").find("m.txt:1: The name 'A' may hold") == 0);
  CHECK(manifestError("kernel a\n colour red\n").find("m.txt:2: The word 'colour' is not known") == 0);
  const std::string stanza = "kernel a # comment\n source a.comp\n buffer r T x\n";
  CHECK(manifestError(stanza) == "no error");
  CHECK(manifestError(stanza + stanza) == "m.txt:4: The kernel a is declared twice.");
  CHECK(manifestError(stanza + "kernel b\n source b.comp\n buffer r T x\n form c a\n") ==
        "m.txt:7: The kernel a is declared twice.");
  CHECK(manifestError(stanza + " type f33\n").find("m.txt:4: The type 'f33' is not one of f32, f16,") == 0);
  CHECK(manifestError(stanza + " native f32\n") ==
        "m.txt:4: The type 'f32' has no native form; those of 8 and 16 bits have.");
  CHECK(manifestError(stanza + " form one\n push u32 count\n") ==
        "m.txt:5: The line 'push' stands below a form; an interface is that of all forms.");
  CHECK(manifestError(stanza + " form one\n type f32\n form two\n")
            .ends_with("The kernel a_two has no types, unlike other forms."));
  CHECK(
      manifestError(stanza + " packed-of b\n").ends_with("The kernel a is packed-of b, which is no kernel above it."));
}

TEST_CASE("errors of an interface name the line") {
  const auto error = [](const std::string& line) { return manifestError("kernel a\n " + line + "\n"); };
  CHECK(error("buffer x T y") == "m.txt:2: The access 'x' is not one of r, w, rw.");
  CHECK(error("buffer r u32x5 y").find("m.txt:2: The type 'u32x5' of the buffer y is neither T nor one of u8, ") == 0);
  CHECK(error("buffer r T push") == "m.txt:2: The buffer push has the name of another member: form, type, push, spec.");
  CHECK(error("buffer r T y\n buffer w T y") == "m.txt:3: The buffer y is declared twice.");
  CHECK(error("push u24 count") ==
        "m.txt:2: The type 'u24' of a word is not one of u8, i8, u16, i16, u32, i32, f32, u64, i64, f64.");
  CHECK(error("push u32 count count") == "m.txt:2: The push word count is declared twice.");
  CHECK(error("push u32 firstGroup") == "m.txt:2: The push word firstGroup is declared twice.");
  CHECK(error("push u32 switch") == "m.txt:2: The name 'switch' means something else in C++ or GLSL.");
  CHECK(error("push u32 a-b") == "m.txt:2: The name 'a-b' is none in C++ and GLSL.");
  CHECK(error("push u32 count\n push u64 wide") ==
        "m.txt:3: The push word wide of type u64 would leave a gap before it, at byte 20; wider words come first.");
  CHECK(error("push u64 a b c d e f g h i j k l m n o") ==
        "m.txt:2: The push word o ends at byte 136, above the limit of 128.");
  CHECK(error("spec 0 structural u64 OP 1") ==
        "m.txt:2: The specialization constant OP is of type u64; it takes a word of 32 bits: u32, i32 or f32.");
  CHECK(error("spec 0 whatever u32 OP 1") == "m.txt:2: The word 'whatever' is neither structural nor uniform.");
  CHECK(error("spec 0 uniform u32 OP DML_B") ==
        "m.txt:2: The value 'DML_B' is neither a number nor an enumerator of DirectML.h.");
  CHECK(error("spec 0 uniform u32 OP -1").find("m.txt:2: The value '-1' is neither a number") == 0);
  CHECK(error("spec 0 uniform f32 OP half") == "m.txt:2: The value 'half' is not a number.");
  CHECK(error("spec 0 uniform u32 OP 5..3") == "m.txt:2: The range '5..3' is empty or too long.");
  CHECK(error("spec 0 uniform u32 OP 1\n spec 1 uniform u32 OP 1") ==
        "m.txt:3: The specialization constant 1 (OP) is declared twice.");
  CHECK(error("spec 0 uniform u32 OP 1\n form one\n spec 0 uniform u32 OP 1") ==
        "m.txt:4: The specialization constant 0 (OP) is declared twice.");
  CHECK(error("form one\n spec 0 uniform u32 OP 1\n form two\n spec 0 uniform i32 OP 1") ==
        "m.txt:5: The specialization constant 0 (OP) has another id, name, type or group in a form.");
  CHECK(error("spec 16 structural u32 SIZE 64") ==
        "m.txt:2: The specialization constant 16 is named SIZE; 16 is INVOCATIONS, and no other is.");
  CHECK(error("spec 1 structural u32 INVOCATIONS 64") ==
        "m.txt:2: The specialization constant 1 is named INVOCATIONS; 16 is INVOCATIONS, and no other is.");
  const auto ofInvocations = [&](const std::string& constant) { return error("spec 16 structural " + constant); };
  const std::string sentence = " by default; it has to be the u32 256.";
  CHECK(ofInvocations("u32 INVOCATIONS 64") == "m.txt:2: The specialization constant INVOCATIONS is 0u" + sentence);
  CHECK(ofInvocations("u32 INVOCATIONS=64 64") == "m.txt:2: The specialization constant INVOCATIONS is 64u" + sentence);
  CHECK(ofInvocations("i32 INVOCATIONS=256 256") ==
        "m.txt:2: The specialization constant INVOCATIONS is 256" + sentence);
}

TEST_CASE("workgroups of several sizes are of forms that are vulkan-only") {
  const std::string constant = "   spec 16 structural u32 INVOCATIONS=256 128 256\n";
  const std::string stanza = "kernel a\n source a.comp\n buffer r T x\n form one\n" + constant;
  CHECK(
      manifestError(stanza) ==
      "m.txt:5: The kernel a_one has the specialization constant INVOCATIONS with 2 values, but HLSL's workgroups are "
      "of one size; it has to be vulkan-only.");
  CHECK(manifestError(stanza + " vulkan-only\n form two\n") == "no error");
  const std::string one = "   spec 16 structural u32 INVOCATIONS=256 128\n";
  CHECK(manifestError("kernel a\n source a.comp\n buffer r T x\n form one\n" + one) == "no error");
}

TEST_CASE("kernels are pruned that say so, or choose one of many functions") {
  const Manifest manifest = parseManifest(
      "kernel k\n source k.comp\n buffer rw u32 y\n form one\n pruned\n form two\n"
      "kernel l\n source l.comp\n buffer rw u32 y\n spec 0 structural u32 OP 1 2\n"
      "kernel m\n source m.comp\n buffer rw u32 y\n spec 0 uniform u32 OP 1 2\n",
      "m.txt", Enums::parse("enum DML_A { DML_A_X = 3 };"));
  std::vector<std::string> names;
  for (const Kernel& kernel : manifest.kernels)
    if (kernel.pruned) names.push_back(kernel.name);
  CHECK(names == std::vector<std::string>{"k_one", "l"});
}

TEST_CASE("a form has specialization constants of its own") {
  const Manifest manifest = parseManifest(
      "kernel k\n source k.comp\n buffer w u32 y\n spec 4 uniform u32 SCALE 1\n form plain\n form wide\n"
      " spec 1 structural u32 WIDTH=2 2\n form wider\n spec 1 structural u32 WIDTH=4 4\n spec 9 uniform u32 LAST 1\n",
      "m.txt", Enums::parse("enum DML_A { DML_A_X = 3 };"));
  REQUIRE(manifest.kernels.size() == 3);
  CHECK(manifest.families[0].specs.size() == 3);
  CHECK(manifest.kernels[0].family.specs.size() == 1);
  CHECK(manifest.kernels[1].family.specs[0].standard == "2u");
  CHECK(manifest.kernels[2].family.specs[0].standard == "4u");
  CHECK(manifest.kernels[2].family.specs.size() == 3);
  CHECK(manifest.kernels[1].interface != manifest.kernels[2].interface);
  const std::string header = interfaceHeader(manifest.families[0]);
  CHECK(header.find("FormWord<uint32_t> width = {};") != header.npos);
  CHECK(header.find("Word<uint32_t> scale;") != header.npos);
  CHECK(header.find("kFormSpecs[] = {2, 3, 7};") != header.npos);
}

TEST_CASE("families share the words and constants of a group") {
  const Manifest manifest = parseManifest(
      "group some_lines\n push u32 b c\n spec 3 structural u32 WIDTH 1 2\nkernel k\n source k.comp\n buffer w u32 y\n"
      " push u32 a\n push some_lines\n push u32 d\n spec some_lines\nkernel l\n source l.comp\n buffer w u32 y\n"
      " push some_lines\n form one\n form two\n spec some_lines\n",
      "m.txt", Enums::parse("enum DML_A { DML_A_X = 3 };"));
  REQUIRE(manifest.families.size() == 2);
  CHECK(manifest.families[0].push[2].offset == 24);
  CHECK(memberPath(manifest.families[0].push[2]) == "someLines.c");
  CHECK(memberPath(manifest.families[0].push[3]) == "d");
  const std::string header = interfaceHeader(manifest.families[0]);
  CHECK(header.find("SomeLinesWords someLines;\n    Word<uint32_t> d;") != header.npos);
  CHECK(header.find("specialization(3, spec.someLines.width)") != header.npos);
  CHECK(interfaceHeader(manifest.families[1]).find("optional<SomeLinesSpecs> someLines = {};") != header.npos);
  CHECK(manifestError("kernel k\n push lines\n") == "m.txt:2: The group 'lines' is not declared above.");
  CHECK(manifestError("group a\n buffer r T x\n") == "m.txt:2: A group has lines of push and spec alone.");
  CHECK(manifestError("group a\ngroup a\n") == "m.txt:2: The group a is declared twice.");
}

TEST_CASE("the manifest expands forms and types") {
  const Enums enums = Enums::parse("enum DML_A { DML_A_X = 3 };");
  const Manifest manifest = parseManifest(
      "kernel k\n source k.comp\n type i8 f32\n native i8 f16\n push u32 count\n push i32 delta\n"
      " spec 7 uniform i32 SIGN=-1 -1 1\n spec 1 structural u32 KIND DML_A_X 5..7 0\n"
      " buffer r T,u32x4 x\n buffer w f32 y\n define A=1\n"
      " form strided k\n form packed\n source packed.comp\n type f32\n define B=2\n packed-of k\nkernel l\n"
      " source l.comp\n buffer rw u32 z\n vulkan-only\n packed-of k\n",
      "m.txt", enums);
  REQUIRE(manifest.families.size() == 2);
  const Family& k = manifest.families[0];
  CHECK(k.forms == std::vector<std::string>{"strided", "packed"});
  CHECK(k.push[1].offset == 20);
  CHECK(k.specs[0].name == "KIND");
  CHECK(k.specs[0].structural);
  CHECK(k.specs[0].values == std::vector<uint32_t>{0, 3, 5, 6, 7});
  CHECK_FALSE(k.specs[1].structural);
  CHECK(k.specs[1].values == std::vector<uint32_t>{1, 0xffffffffu});
  CHECK(k.specs[1].standard == "-1");
  CHECK(k.buffers[0].types == std::vector<std::string>{"T", "uvec4"});
  CHECK(k.buffers[0].access == Access{true, false});
  CHECK(k.buffers[1].access == Access{false, true});

  std::vector<std::string> names;
  for (const Kernel& kernel : manifest.kernels) names.push_back(kernel.name + (kernel.portable ? "" : " vulkan-only"));
  CHECK(names == std::vector<std::string>{"k.f32", "k_native.f16", "k.i8", "k_native.i8 vulkan-only", "k_packed.f32",
                                          "k_packed_native.f16", "k_packed_native.i8 vulkan-only", "l vulkan-only"});
  CHECK(manifest.packed == std::vector<Packed>{{k.number, 1, k.number}, {manifest.families[1].number, 0, k.number}});
  const Kernel& packed = manifest.kernels[5];
  CHECK(packed.source == "packed.comp");
  CHECK(packed.defines == std::vector<std::string>{"A=1", "B=2", "NATIVE=1", "T=f16", "T_f16=1"});
  CHECK(packed.id == dimple::KernelId{dimple::KernelFamily{0}, 1, dimple::KernelType::F16, true});
}
