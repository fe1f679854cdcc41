// Reads tests/vectors: one computation a file, with the results it must have.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/stages.hpp"

namespace attn_test {

struct Expected {
  attn::Shape shape;
  double eps_absolute;  // in units of 2^-23
  double eps_relative;
  std::vector<double> data{};

  // k·eps·magnitude as the README of the vectors derives it; one subnormal step is always allowed.
  double tolerance(double value) const {
    constexpr double kEps = std::numeric_limits<float>::epsilon();
    constexpr double kSmallestStep = std::numeric_limits<float>::denorm_min();
    return kEps * (eps_absolute + eps_relative * std::abs(value)) + kSmallestStep;
  }
};

// A mask as it is given, or nothing: then the shape is empty.
struct VectorMask {
  std::vector<std::int64_t> shape{};
  bool boolean = false;
  std::vector<float> values{};
};

struct Vector {
  std::string name;
  attn::Config config;
  std::vector<std::int32_t> valid_lengths{};
  std::map<std::string, std::vector<float>> inputs{};
  VectorMask mask{};
  std::map<std::string, std::vector<float>> past{};  // presentKey and presentValue
  std::map<std::string, Expected> expected{};
};

inline double number_from(const nlohmann::json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "Infinity") return std::numeric_limits<double>::infinity();
  if (json == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

inline attn::Config config_from(const nlohmann::json& json) {
  attn::Config config{.batch = json.at("batch"),
                      .heads = json.at("heads"),
                      .kv_heads = json.at("kvHeads"),
                      .tq = json.at("tq"),
                      .tk = json.at("tk"),
                      .d_k = json.at("dK"),
                      .d_v = json.at("dV"),
                      .d_model = json.at("dModel"),
                      .from_x = json.at("source") == "x",
                      .context = json.value("context", false),
                      .output_projection = json.value("outputProjection", false),
                      .masked = json.value("masked", false),
                      .causal = json.value("causal", false),
                      .gradients = json.value("gradients", false)};
  config.past = json.value("past", 0);
  if (json.contains("softcap")) config.softcap = json["softcap"].get<float>();
  if (json.contains("scale")) config.scale = json["scale"].get<float>();
  return config;
}

// A file of the folder of vectors.
inline nlohmann::json read_json(const std::string& name) {
  std::ifstream file(std::filesystem::path(ATTN_VECTORS_DIR) / name);
  return nlohmann::json::parse(file);
}

inline std::vector<float> floats_from(const nlohmann::json& json) {
  std::vector<float> numbers;
  for (const auto& number : json) numbers.push_back(static_cast<float>(number_from(number)));
  return numbers;
}

inline Vector read_vector(const std::string& name) {
  const nlohmann::json json = read_json(name + ".json");
  Vector vector{.name = json.at("name"), .config = config_from(json.at("config"))};
  vector.valid_lengths = json["config"].value("validLengths", std::vector<std::int32_t>());
  for (const auto& [stage, numbers] : json.at("inputs").items()) {
    vector.inputs[stage] = floats_from(numbers);
  }
  if (json.contains("mask")) {
    vector.mask.shape = json["mask"].at("shape").get<std::vector<std::int64_t>>();
    vector.mask.boolean = json["mask"].at("kind") == "boolean";
    vector.mask.values = floats_from(json["mask"].at("values"));
  }
  if (json.contains("past")) {
    for (const auto& [stage, numbers] : json["past"].items()) {
      vector.past[stage] = floats_from(numbers);
    }
  }
  for (const auto& [stage, item] : json.at("expected").items()) {
    const auto& shape = item.at("shape");
    Expected expected{.shape = {shape[0], shape[1], shape[2], shape[3]},
                      .eps_absolute = item.at("eps").at("absolute"),
                      .eps_relative = item.at("eps").at("relative")};
    for (const auto& number : item.at("data")) expected.data.push_back(number_from(number));
    vector.expected.emplace(stage, std::move(expected));
  }
  return vector;
}

// The names of all vectors.
inline std::vector<std::string> vector_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(ATTN_VECTORS_DIR)) {
    const bool is_vector =
        entry.path().extension() == ".json" && entry.path().filename() != "schema.json";
    if (is_vector) names.push_back(entry.path().stem());
  }
  return names;
}

}  // namespace attn_test
