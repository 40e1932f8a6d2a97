// Printed text in pictures: what stands around the models, and a photograph of a page through all of them where
// DIMPLE_OCR names the folder that `tools/setup.sh --ocr` makes.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "clients/files/image.h"
#include "clients/ocr/detection.h"
#include "clients/ocr/reader.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/reader.h"
#include "tests/gpu_test.h"
#include "tests/onnx/onnx_run.h"
#include "tests/onnx/onnx_runtime.h"
#include "tests/tool/report_page.h"
#include "tests/tool/tool_fixture.h"

namespace dimple::testing {
namespace {

using ocr::Box;
using ocr::Part;
using ocr::Picture;
using onnx::HostTensor;
using onnx::Type;

Picture plain(uint32_t width, uint32_t height, uint8_t value) {
  return {width, height, std::vector<uint8_t>(size_t{width} * height * 3, value)};
}

// A map in which rectangles are text.
HostTensor mapOf(int64_t width, int64_t height, std::initializer_list<std::array<int64_t, 4>> rectangles,
                 float likelihood = 0.9F) {
  HostTensor map(Type::Float, {1, 1, height, width});
  for (const auto& [left, top, right, bottom] : rectangles)
    for (int64_t y = top; y < bottom; ++y)
      for (int64_t x = left; x < right; ++x) map.as<float>()[static_cast<size_t>(y * width + x)] = likelihood;
  return map;
}

bool near(float a, float b, float by = 1.5F) { return std::fabs(a - b) <= by; }

TEST_CASE("ocr: boxes grow by what a map leaves out, and lie in the picture") {
  // 40 x 10 in a map of half the picture's size grows by 1.6 * 400 / 50 in either direction.
  const auto boxes = ocr::textBoxes(mapOf(100, 50, {{20, 20, 61, 31}}), 200, 100);
  REQUIRE(boxes.size() == 1);
  CHECK(near(boxes[0][0].x, 2 * (20 - 6.4F)));
  CHECK(near(boxes[0][0].y, 2 * (20 - 6.4F)));
  CHECK(near(boxes[0][2].x, 2 * (60 + 6.4F)));
  CHECK(near(boxes[0][2].y, 2 * (30 + 6.4F)));
  // Clockwise.
  CHECK(boxes[0][1].x > boxes[0][0].x);
  CHECK(boxes[0][3].y > boxes[0][0].y);
  const auto whole = ocr::textBoxes(mapOf(100, 50, {{0, 0, 100, 50}}), 200, 100);
  REQUIRE(whole.size() == 1);
  for (const ocr::Point& corner : whole[0]) {
    CHECK(corner.x >= 0);
    CHECK(corner.y >= 0);
    CHECK(corner.x <= 199);
    CHECK(corner.y <= 99);
  }
}

TEST_CASE("ocr: boxes come in the order of reading, without what is unlikely or small") {
  const auto boxes = ocr::textBoxes(
      mapOf(200, 100, {{120, 11, 180, 21}, {10, 10, 100, 20}, {10, 60, 100, 70}, {150, 60, 152, 62}}), 200, 100);
  REQUIRE(boxes.size() == 3);
  CHECK(boxes[0][0].x < boxes[1][0].x);
  CHECK(boxes[2][0].y > 40);
  CHECK(ocr::textBoxes(mapOf(200, 100, {{10, 10, 100, 20}}, 0.5F), 200, 100).empty());
  CHECK(ocr::textBoxes(mapOf(200, 100, {}), 200, 100).empty());
  CHECK_THROWS_WITH_AS(ocr::textBoxes(HostTensor(Type::Float, {1, 2, 4, 4}), 8, 8),
                       "The detection model gives float[1,2,4,4], expected float[1,1,H,W].", onnx::ModelError);
}

TEST_CASE("ocr: the detection model takes blue, green and red around 0") {
  Picture picture = plain(480, 240, 0);
  for (size_t i = 0; i < picture.pixels.size(); i += 3) picture.pixels[i] = 255;  // red
  const HostTensor input = ocr::detectionInput(picture);
  CHECK(input.sizes == onnx::Sizes{1, 3, 480, 960});
  const auto values = input.as<float>();
  const size_t plane = size_t{480} * 960;
  CHECK(near(values[0], (0 - 0.485F) / 0.229F, 1e-5F));
  CHECK(near(values[plane], (0 - 0.456F) / 0.224F, 1e-5F));
  CHECK(near(values[2 * plane], (1 - 0.406F) / 0.225F, 1e-5F));
}

TEST_CASE("ocr: lines are cut out as they lie, and turned") {
  Picture picture = plain(40, 20, 0);
  picture.pixels[(5 * 40 + 10) * 3] = 200;  // red at (10, 5)
  const Picture line = ocr::cropLine(picture, Box{{{10, 5}, {30, 5}, {30, 15}, {10, 15}}});
  CHECK(line.width == 20);
  CHECK(line.height == 10);
  CHECK(line.pixels[0] == 200);
  Picture turned = line;
  ocr::turnAround(turned);
  CHECK(turned.pixels[turned.pixels.size() - 3] == 200);
  // Twice as high as wide: its upper right corner becomes the upper left one.
  const Picture upright = ocr::cropLine(picture, Box{{{5, 5}, {10, 5}, {10, 15}, {5, 15}}});
  CHECK(upright.width == 10);
  CHECK(upright.height == 5);

  const std::vector<Picture> lines{plain(100, 48, 255), plain(1000, 48, 0)};
  CHECK(ocr::lineWidth(lines) == 1024);
  CHECK(ocr::lineWidth({}) == 320);
  const HostTensor input = ocr::lineInput(lines, 0, 3, 320);
  CHECK(input.sizes == onnx::Sizes{3, 3, 48, 320});
  CHECK(input.as<float>()[99] == 1);
  CHECK(input.as<float>()[100] == 0);  // filled up
  CHECK(input.as<float>()[size_t{3} * 48 * 320 + 319] == -1);
  CHECK(input.as<float>()[size_t{6} * 48 * 320] == 0);  // no line
}

TEST_CASE("ocr: repeated classes are one character, and class 0 is none") {
  const ocr::Dictionary dictionary("a\r\nb\n");
  REQUIRE(dictionary.classes() == 4);
  CHECK(dictionary.character(3) == " ");
  HostTensor likelihoods(Type::Float, {2, 6, 4});
  // a a - a b " "
  const size_t classes[] = {1, 1, 0, 1, 2, 3};
  const float confidences[] = {0.9F, 0.6F, 0.9F, 0.8F, 0.7F, 0.8F};
  for (size_t step = 0; step < 6; ++step) likelihoods.as<float>()[24 + step * 4 + classes[step]] = confidences[step];
  const ocr::Text text = ocr::decode(likelihoods, 1, dictionary);
  CHECK(text.text == "aab");
  CHECK(near(text.confidence, (0.9F + 0.8F + 0.7F) / 3, 1e-6F));
  CHECK(ocr::decode(likelihoods, 0, dictionary).text.empty());
  CHECK_THROWS_WITH_AS(ocr::decode(HostTensor(Type::Float, {1, 2, 7}), 0, dictionary),
                       "The recognition model gives float[1,2,7], expected float[N,T,4] for this dictionary.",
                       onnx::ModelError);
  HostTensor angles(Type::Float, {2, 2});
  angles.as<float>()[3] = 0.95F;
  CHECK(ocr::upsideDown(angles, 0) == 0);
  CHECK(near(static_cast<float>(ocr::upsideDown(angles, 1)), 0.95F, 1e-6F));
  CHECK_THROWS_AS(ocr::upsideDown(angles, 2), onnx::ModelError);
}

TEST_CASE("ocr: a space is where the steps between characters are likely enough to hold one") {
  const ocr::Dictionary dictionary("a\n\xEF\xBC\x8C\n");  // a and a wide comma
  // a - - a , a
  HostTensor likelihoods(Type::Float, {1, 6, 4});
  const size_t classes[] = {1, 0, 0, 1, 2, 1};
  const auto at = [&](size_t step, size_t of) -> float& { return likelihoods.as<float>()[step * 4 + of]; };
  for (size_t step = 0; step < 6; ++step) at(step, classes[step]) = 0.9F;
  CHECK(ocr::decode(likelihoods, 0, dictionary).text == "aa,a");
  at(1, 3) = 0.02F;
  CHECK(ocr::decode(likelihoods, 0, dictionary).text == "aa,a");
  at(2, 3) = 0.08F;
  CHECK(ocr::decode(likelihoods, 0, dictionary).text == "a a,a");
  // Beside characters that are wide in any case, a wide comma is one.
  const ocr::Dictionary chinese("\xE4\xB8\xAD\n\xEF\xBC\x8C\n");
  CHECK(ocr::decode(likelihoods, 0, chinese).text.find("\xEF\xBC\x8C") != std::string::npos);
}

TEST_CASE("ocr: lines are read in order whichever way the page lies") {
  // Two rows, the second of two boxes.
  const std::vector<Box> upright{Box{{{10, 40}, {50, 40}, {50, 50}, {10, 50}}},
                                 Box{{{60, 42}, {90, 42}, {90, 52}, {60, 52}}},
                                 Box{{{10, 10}, {90, 10}, {90, 20}, {10, 20}}}};
  CHECK(ocr::readingOrder(upright) == std::vector<size_t>{2, 0, 1});
  const auto turned = [&](auto turn) {
    std::vector<Box> boxes = upright;
    for (Box& box : boxes)
      for (ocr::Point& corner : box) corner = turn(corner);
    return ocr::readingOrder(boxes);
  };
  CHECK(turned([](ocr::Point p) { return ocr::Point{100 - p.x, 100 - p.y}; }) == std::vector<size_t>{2, 0, 1});
  CHECK(turned([](ocr::Point p) { return ocr::Point{100 - p.y, p.x}; }) == std::vector<size_t>{2, 0, 1});
  CHECK(ocr::readingOrder({}).empty());
}

TEST_CASE("ocr: a picture upside down is turned, and one line that the angle model errs on is not") {
  // Four rows, of which the angle model takes each for upside down with that likelihood. A line that was turned has a
  // capital letter.
  const auto readWith = [](std::vector<float> down) {
    const auto run = [&](Part part, const HostTensor& input) {
      if (part == Part::Detection)
        return mapOf(input.sizes[3], input.sizes[2],
                     {{100, 100, 800, 130}, {100, 300, 800, 330}, {100, 450, 800, 480}, {100, 550, 800, 580}});
      if (part == Part::Angle) {
        HostTensor angles(Type::Float, {input.sizes[0], 2});
        for (size_t i = 0; i < down.size(); ++i) angles.as<float>()[2 * i + 1] = down[i];
        return angles;
      }
      HostTensor likelihoods(Type::Float, {input.sizes[0], 1, 6});
      for (size_t i = 0; i < down.size(); ++i) likelihoods.as<float>()[6 * i + 1 + i] = 1;
      return likelihoods;
    };
    std::string text;
    for (const ocr::Line& line : ocr::readText(plain(960, 640, 255), ocr::Dictionary("a\nb\nc\nd\n"), run)) {
      const bool isTurned = line.box[0].x > line.box[1].x;
      text += static_cast<char>(isTurned ? line.text[0] - 'a' + 'A' : line.text[0]);
    }
    return text;
  };
  CHECK(readWith({0.1F, 0.1F, 0.1F, 0.1F}) == "abcd");
  CHECK(readWith({0.99F, 0.99F, 0.99F, 0.99F}) == "DCBA");
  CHECK(readWith({0.1F, 0.99F, 0.1F, 0.1F}) == "abcd");
  CHECK(readWith({0.99F, 0.99F, 0.1F, 0.99F}) == "DCBA");
  // Without a clear majority the lines are turned one by one, where the model is sure.
  CHECK(readWith({0.1F, 0.99F, 0.6F, 0.1F}) == "aBcd");
}

TEST_CASE("ocr: boxes are drawn in the picture") {
  Picture picture = plain(40, 20, 255);
  const Box box{{{10, 5}, {30, 5}, {30, 15}, {10, 15}}};
  ocr::drawBoxes(picture, std::span(&box, 1));
  // Green, smoothed.
  CHECK(picture.pixels[(5 * 40 + 20) * 3] < 60);
  CHECK(picture.pixels[(5 * 40 + 20) * 3 + 1] > 140);
  CHECK(picture.pixels[(10 * 40 + 20) * 3] == 255);
}

TEST_CASE("ocr: the tool says what is missing") {
  const ToolFixture fixture;
  const auto refused = [&](const std::string& arguments, const std::string& part) {
    const auto outcome = fixture.run("read " + arguments);
    CAPTURE(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find(part) != std::string::npos);
  };
  tool::writeImage(fixture.folder() / "p.png", {4, 4, 3, std::vector<uint8_t>(48)});
  refused("none.png --models .", "none.png cannot be read");
  refused("p.png --models none", "The folder none of --models cannot be read");
  refused("p.png --models .", "has 0 files *keys*.txt, expected one.");
  refused("p.png --models . --tolerance 1", "--tolerance is given without --compare.");
  fixture.write("keys.txt", "a\n");
  fixture.write("det.onnx", "no model");
  refused("p.png --models .", "det.onnx");
}

const char* sampleFolder() {
  const char* folder = std::getenv("DIMPLE_OCR");
  if (folder && *folder) return folder;
  MESSAGE("Skipped: DIMPLE_OCR names no folder with the models and the photograph.");
  return nullptr;
}

// A report has the lines, both pictures, and the times of all three models.
void checkPage(const nlohmann::json& report, const nlohmann::json& lines) {
  REQUIRE(report.is_object());
  REQUIRE(report["lines"].size() == lines.size());
  for (size_t i = 0; i < lines.size(); ++i) CHECK(report["lines"][i]["text"] == lines[i]["text"]);
  REQUIRE(report["tensors"].size() == 2);
  CHECK(report["tensors"][1]["picture"]["width"] == 384);
  CHECK(report["others"].empty());
  std::set<std::string> parts;
  for (const auto& run : report["runs"]) {
    const auto& graph = report["graphs"][run["graph"].get<size_t>()];
    parts.insert(graph["part"]);
    CHECK(run["nanoseconds"].size() == graph[run["initialization"] ? "initialization" : "execution"].size());
  }
  CHECK(parts == std::set<std::string>{"angle", "detection", "recognition"});
}

TEST_CASE("ocr: a photograph of a page") {
  const char* folder = sampleFolder();
  if (!folder) return;
  ToolFixture fixture;
  // Kernels run long enough here to be worth llvmpipe's optimizations.
  fixture.setEnvironment("GALLIVM_PERF", "");
  fixture.setEnvironment("DIMPLE_OPTIONS", "unroll=1");
  const std::string models = folder;
  const auto outcome = fixture.run("read " + models + "/page.png --models " + models + " --boxes text.png");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  for (const char* line : {"segmentation\n", "Let us first determine markers of the coins and the\n",
                           "pixels that we can label\n", "unambiguously as either object or background. Here,\n",
                           "the markers are found at the two extreme parts of the\n", "histogram of grey values:\n"})
    CHECK_MESSAGE(outcome.out.find(line) != std::string::npos, line, "\n", outcome.out);
  CHECK(outcome.out.find("steady ms") == std::string::npos);
  CHECK(tool::readImage(fixture.folder() / "text.png", 3).width == 384);

  // Upside down it says the same, in the same order, as text alone and as JSON.
  tool::Image page = tool::readImage(std::filesystem::path(folder) / "page.png", 3);
  for (size_t a = 0, b = page.pixels.size() - 3; a < b; a += 3, b -= 3)
    std::swap_ranges(&page.pixels[a], &page.pixels[a] + 3, &page.pixels[b]);
  tool::writeImage(fixture.folder() / "down.png", page);
  const auto down = fixture.run("read down.png --text --models " + models);
  REQUIRE_MESSAGE(down.code == 0, down.err);
  CHECK_MESSAGE(down.out.find("Region-based segmentation\nLet us first determine markers of the coins and the\n") == 0,
                down.out);
  CHECK(down.out.find("Running on") == std::string::npos);
  const std::string withReport = kWithPlots ? " --report page.html" : "";
  const auto json = fixture.run("read " + models + "/page.png --json --models " + models + withReport);
  REQUIRE_MESSAGE(json.code == 0, json.err);
  const auto lines = nlohmann::json::parse(json.out).at("lines");
  REQUIRE(lines.size() >= 6);
  CHECK(lines[0].at("text") == "Region-based segmentation");
  CHECK(lines[0].at("box").size() == 4);
  if (kWithPlots) checkPage(reportOf(fixture.folder() / "page.html"), lines);

  // What reads nothing takes one model, twice.
  tool::writeImage(fixture.folder() / "blank.png", {64, 32, 3, std::vector<uint8_t>(64 * 32 * 3, 255)});
  const auto blank = fixture.run("read blank.png --profile --models " + models);
  REQUIRE_MESSAGE(blank.code == 0, blank.err);
  for (const char* part : {"There is no text.\n", "steady ms", "detection     1"})
    CHECK_MESSAGE(blank.out.find(part) != std::string::npos, part, "\n", blank.out);
  CHECK(blank.out.find("recognition") == std::string::npos);
}

GPU_TEST_CASE("ocr: the models give what ONNX Runtime gives") {
  const char* folder = sampleFolder();
  if (!folder || !runtimeFolder()) return;
  const std::filesystem::path models = folder;
  const auto image = tool::readImage(models / "page.png", 3);
  const std::map<Part, std::string> files{{Part::Detection, "ch_PP-OCRv4_det_infer.onnx"},
                                          {Part::Angle, "ch_ppocr_mobile_v2.0_cls_infer.onnx"},
                                          {Part::Recognition, "ch_PP-OCRv4_rec_infer.onnx"}};
  size_t compared = 0;
  const auto run = [&](Part part, const HostTensor& input) {
    const auto path = models / files.at(part);
    const onnx::Model model = onnx::readModel(path);
    const std::map<std::string, HostTensor> inputs{{model.inputs()[0].name, input}};
    onnx::Session session(gpu.context(), model);
    const HostTensor result = session.run(inputs)[0].tensor;
    CHECK(session.statistics().graphs == 1);
    const auto expected = runtimeResult(readText(path), inputs);
    REQUIRE(expected);
    CHECK(compareTensors(result, *expected, {1e-3, 1e-3}) == "");
    ++compared;
    return result;
  };
  ocr::readText({image.width, image.height, image.pixels}, ocr::Dictionary::load(models / "ppocr_keys_v1.txt"), run);
  CHECK(compared == 3);
}

}  // namespace
}  // namespace dimple::testing
