// dimple read: the printed text in a picture.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>

#include "clients/dimple/command.h"
#include "clients/dimple/device.h"
#include "clients/dimple/json_file.h"
#include "clients/dimple/onnx_report.h"
#include "clients/dimple/progress.h"
#include "clients/dimple/run_report.h"
#include "clients/dimple/table.h"
#include "clients/dimple/tensor_account.h"
#include "clients/files/failure.h"
#include "clients/files/image.h"
#include "clients/ocr/reader.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/reader.h"
#include "clients/onnx/session.h"
#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

using ocr::Part;
using onnx::HostTensor;

struct ReadOptions {
  std::string picture;
  std::string models;
  std::string boxes;
  std::string compare;
  std::optional<double> tolerance;
  bool profile = false;
  bool textOnly = false;
  bool asJson = false;
  ReportOptions report;
  DeviceOptions device;
};

constexpr Part kParts[] = {Part::Detection, Part::Angle, Part::Recognition};
constexpr const char* kPartNames[] = {"detection", "angle", "recognition"};
// The parts of their files' names.
constexpr std::string_view kFileParts[] = {"det", "cls", "rec"};

const char* nameOf(Part part) { return kPartNames[static_cast<size_t>(part)]; }

// The one file of the folder whose name contains `part` and has that extension.
std::filesystem::path findFile(const std::filesystem::path& folder, std::string_view part, std::string_view extension) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == extension && entry.path().stem().string().find(part) != std::string::npos)
      found.push_back(entry.path());
  if (error)
    throw InputError(cat("The folder ", folder.string(), " of --models cannot be read: ", error.message(), "."));
  if (found.size() != 1)
    throw InputError(cat("The folder ", folder.string(), " has ", found.size(), " files *", part, "*", extension,
                         ", expected one."));
  return found.front();
}

struct Models {
  std::map<Part, onnx::Model> parts;
  ocr::Dictionary dictionary;

  explicit Models(const std::filesystem::path& folder)
      : dictionary(ocr::Dictionary::load(findFile(folder, "keys", ".txt"))) {
    Progress progress("loading", std::size(kParts));
    for (const Part part : kParts) {
      const auto file = findFile(folder, kFileParts[static_cast<size_t>(part)], ".onnx");
      progress.step(file.filename().string());
      const auto& model = parts.emplace(part, onnx::readModel(file)).first->second;
      if (model.inputs().size() != 1 || model.outputs().size() != 1)
        throw InputError(cat(file.string(), " has ", model.inputs().size(), " inputs and ", model.outputs().size(),
                             " outputs, expected one of each."));
    }
  }
};

// The models on a device, and how long they took.
class Reading {
 public:
  Reading(const DeviceOptions& options, const Models& models) : device_(options), models_(models) {
    for (const auto& [part, model] : models.parts)
      sessions_.emplace(part, std::make_unique<onnx::Session>(device_.context(), model));
  }

  HostTensor run(Part part, const HostTensor& input) {
    const auto start = std::chrono::steady_clock::now();
    auto outputs = sessions_.at(part)->run({{models_.parts.at(part).inputs().front().name, input}});
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    times_[part].push_back(took.count());
    return std::move(outputs.front().tensor);
  }

  // The time of each run, in order.
  const std::vector<double>& times(Part part) { return times_[part]; }
  const Device& device() const { return device_; }

 private:
  const Device device_;
  const Models& models_;
  std::map<Part, std::unique_ptr<onnx::Session>> sessions_;
  std::map<Part, std::vector<double>> times_;
};

void checkValidation(const Reading& reading) {
  if (reading.device().warnings()) throw RunError(cat("Validation gave ", reading.device().warnings(), " messages."));
}

void print(const std::vector<ocr::Line>& lines, const ReadOptions& options) {
  if (options.asJson) {
    Json all = Json::array();
    for (const ocr::Line& line : lines) {
      Json box = Json::array();
      for (const ocr::Point& corner : line.box) box.push_back({corner.x, corner.y});
      all.push_back({{"text", line.text}, {"confidence", line.confidence}, {"box", std::move(box)}});
    }
    std::printf("%s\n", Json{{"lines", std::move(all)}}.dump(2).c_str());
    return;
  }
  if (options.textOnly) {
    for (const ocr::Line& line : lines) std::printf("%s\n", line.text.c_str());
    return;
  }
  for (const ocr::Line& line : lines)
    std::printf("%.3f  %s\n", static_cast<double>(line.confidence), line.text.c_str());
  if (lines.empty()) std::printf("There is no text.\n");
}

// Reads once more with new sessions, whose dispatches are timed, and pipelines that are compiled already.
void writeReport(const ReadOptions& options, const Device& device, const Models& models, const ocr::Picture& picture,
                 const std::vector<ocr::Line>& lines) {
  device.check(device.context().SetProfiling(TRUE), "Dispatches cannot be timed");
  readProfile(device);
  RunReport report(device, options.device, std::filesystem::path(options.picture).filename().string());
  std::map<Part, SessionReport> observers;
  std::map<Part, std::unique_ptr<onnx::Session>> sessions;
  for (const auto& [part, model] : models.parts) {
    auto& observer = observers.try_emplace(part, report, options.device, model, nameOf(part)).first->second;
    onnx::SessionOptions session;
    session.observer = &observer;
    sessions.emplace(part, std::make_unique<onnx::Session>(device.context(), model, session));
  }
  Progress progress("reading once more for the report", std::size(kParts), &device);
  ocr::readText(picture, models.dictionary, [&](Part part, const HostTensor& input) {
    progress.step(nameOf(part));
    auto outputs = sessions.at(part)->run({{models.parts.at(part).inputs().front().name, input}});
    observers.at(part).ran(device);
    return std::move(outputs.front().tensor);
  });
  std::vector<ocr::Box> boxes;
  boxes.reserve(lines.size());
  for (const ocr::Line& line : lines) {
    boxes.push_back(line.box);
    report.addLine(line.text, static_cast<double>(line.confidence));
  }
  ocr::Picture outlined = picture;
  ocr::drawBoxes(outlined, boxes);
  const std::string name = std::filesystem::path(options.picture).filename().string();
  report.addTensor(accountOfPicture(name, "input", picture.width, picture.height, 3, picture.pixels));
  report.addTensor(accountOfPicture("lines", "output", outlined.width, outlined.height, 3, outlined.pixels));
  report.write(options.report);
}

// The first time of each model, and the mean of those behind the first `firstRuns`.
void printTimes(Reading& reading, const std::map<Part, size_t>& firstRuns) {
  Table table({"model", ">runs", ">first ms", ">steady ms"});
  for (const auto& [part, first] : firstRuns) {
    const auto& times = reading.times(part);
    if (times.size() == first) continue;
    const double steady = std::accumulate(times.begin() + static_cast<std::ptrdiff_t>(first), times.end(), 0.0);
    const size_t count = times.size() - first;
    table.add({nameOf(part), std::to_string(count), fixedText(times.front(), 1),
               fixedText(steady / static_cast<double>(count), 1)});
  }
  table.print();
}

std::vector<ocr::Line> readOnce(const ReadOptions& options, const Models& models, const ocr::Picture& picture) {
  Reading reading(options.device, models);
  if (!options.asJson && !options.textOnly)
    std::printf("Running on '%s' (%s)\n", reading.device().name().c_str(), options.device.backend.c_str());
  const auto read = [&](const char* what) {
    Progress progress(what, std::size(kParts), &reading.device());
    const auto run = [&](Part part, const HostTensor& input) {
      progress.step(nameOf(part));
      return reading.run(part, input);
    };
    return ocr::readText(picture, models.dictionary, run);
  };
  const std::vector<ocr::Line> lines = read("reading");
  print(lines, options);
  std::fflush(stdout);
  if (options.profile) {
    std::map<Part, size_t> firstRuns;
    for (const Part part : kParts) firstRuns[part] = reading.times(part).size();
    // In this run, graphs are compiled and weights are in place.
    read("reading once more");
    printTimes(reading, firstRuns);
  }
  if (options.report.any()) writeReport(options, reading.device(), models, picture, lines);
  checkValidation(reading);
  return lines;
}

// Both back ends read the same; each model's results are compared.
std::vector<ocr::Line> readOnBoth(const ReadOptions& options, const Models& models, const ocr::Picture& picture) {
  const std::pair backends = parseBackendPair(options.compare);
  DeviceOptions device = options.device;
  device.backend = backends.first;
  Reading one(device, models);
  device.backend = backends.second;
  Reading other(device, models);
  struct Difference {
    size_t elements = 0;
    double largest = 0;
  };
  std::map<Part, Difference> differences;
  const auto lines = ocr::readText(picture, models.dictionary, [&](Part part, const HostTensor& input) {
    HostTensor result = one.run(part, input);
    const HostTensor compared = other.run(part, input);
    if (compared.sizes != result.sizes)
      throw RunError(cat(nameOf(part), " gives other sizes on ", backends.second, "."));
    Difference& difference = differences[part];
    for (size_t i = 0; i < result.as<float>().size(); ++i) {
      const auto apart = static_cast<double>(std::fabs(result.as<float>()[i] - compared.as<float>()[i]));
      // NaN is larger.
      difference.largest = apart <= difference.largest ? difference.largest : apart;
    }
    difference.elements += result.as<float>().size();
    return result;
  });
  checkValidation(one);
  checkValidation(other);
  print(lines, options);
  Table table({"model", ">elements", ">largest absolute difference"});
  for (const auto& [part, difference] : differences)
    table.add({nameOf(part), std::to_string(difference.elements), numberText(difference.largest)});
  table.print();
  for (const auto& [part, difference] : differences)
    if (options.tolerance && !(difference.largest <= *options.tolerance))
      throw RunError(cat(nameOf(part), " differs by ", numberText(difference.largest), ", expected at most ",
                         numberText(*options.tolerance), "."));
  return lines;
}

int read(const ReadOptions& options) {
  checkReportOptions(options.report);
  if (options.tolerance && options.compare.empty()) throw InputError("--tolerance is given without --compare.");
  try {
    Image image = readImage(options.picture, 3);
    ocr::Picture picture{image.width, image.height, std::move(image.pixels)};
    const Models models(options.models);
    const auto lines =
        options.compare.empty() ? readOnce(options, models, picture) : readOnBoth(options, models, picture);
    if (!options.boxes.empty()) {
      std::vector<ocr::Box> boxes;
      for (const ocr::Line& line : lines) boxes.push_back(line.box);
      ocr::drawBoxes(picture, boxes);
      writeImage(options.boxes, {picture.width, picture.height, 3, std::move(picture.pixels)});
      if (!options.asJson && !options.textOnly) std::printf("The lines are outlined in %s.\n", options.boxes.c_str());
    }
    return 0;
  } catch (const onnx::ModelError& error) {
    throw InputError(error.what());
  } catch (const onnx::DeviceError& error) {
    throw RunError(error.what());
  }
}

}  // namespace

Action setUpRead(CLI::App& options) {
  auto values = std::make_shared<ReadOptions>();
  options.add_option("picture", values->picture, "A PNG or JPEG file")->required();
  addDeviceOptions(options, values->device);
  options
      .add_option("--models", values->models,
                  "Folder of the PP-OCR models: *det*.onnx, *cls*.onnx, *rec*.onnx and *keys*.txt")
      ->required();
  addReportOptions(options, values->report);
  options.add_option("--boxes", values->boxes, "Write the picture with its lines outlined to this file");
  options
      .add_option("--compare", values->compare,
                  "vulkan,d3d12: run on both back ends, and print how their results differ")
      ->excludes("--backend")
      ->excludes("--report")
      ->excludes("--trace");
  options.add_flag("--profile", values->profile, "Read the picture once more, and print how long each model takes")
      ->excludes("--compare");
  options.add_option("--tolerance", values->tolerance, "With --compare: fail if a result differs by more");
  options.add_flag("--text", values->textOnly, "Print only the text, one line of output per line of text")
      ->excludes("--compare")
      ->excludes("--profile");
  options.add_flag("--json", values->asJson, "Print JSON: the text, the confidence and the corners of each line")
      ->excludes("--compare")
      ->excludes("--profile")
      ->excludes("--text");
  return [values] { return read(*values); };
}

}  // namespace dimple::tool
