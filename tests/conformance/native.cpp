// Computes one conformance case, read as JSON from the input, through the native build.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "attn/attend.hpp"
#include "attn/pipeline.hpp"

namespace {

using attn::StageId;
using nlohmann::json;

[[noreturn]] void fail(const std::string& sentence) { throw std::runtime_error(sentence); }

void require_known(const std::string& what, const json& object,
                   const std::set<std::string>& known) {
  for (const auto& item : object.items()) {
    if (!known.contains(item.key())) fail("unknown " + what + " " + item.key());
  }
}

void require_ok(const attn::Status& status) {
  if (status.ok()) return;
  fail(std::string(attn::name_of(status.code)) + " " + std::string(status.subject) + ": found " +
       std::to_string(status.found) + ", expected " + std::to_string(status.expected));
}

std::vector<float> numbers(const json& tensor) {
  std::vector<float> out;
  for (const json& item : tensor.at("data")) {
    if (item == "Infinity") {
      out.push_back(std::numeric_limits<float>::infinity());
    } else if (item == "-Infinity") {
      out.push_back(-std::numeric_limits<float>::infinity());
    } else if (item == "NaN") {
      out.push_back(std::numeric_limits<float>::quiet_NaN());
    } else {
      out.push_back(item.get<float>());
    }
  }
  return out;
}

json as_json(std::span<const float> cells) {
  json out = json::array();
  for (const float cell : cells) {
    if (std::isnan(cell)) {
      out.push_back("NaN");
    } else if (std::isinf(cell)) {
      out.push_back(cell > 0 ? "Infinity" : "-Infinity");
    } else {
      out.push_back(cell);
    }
  }
  return out;
}

// batch, heads, tokens, width
using Axes = std::array<std::int64_t, 4>;

Axes axes_of(const json& tensor, bool flat, std::int64_t heads) {
  const json& shape = tensor.at("shape");
  if (shape.size() != (flat ? 3U : 4U)) fail("Q, K and V differ in their axes");
  if (!flat) return {shape[0], shape[1], shape[2], shape[3]};
  const std::int64_t columns = shape[2];
  if (heads < 1 || columns % heads != 0) fail("the columns do not divide into heads");
  return {shape[0], heads, shape[1], columns / heads};
}

// 3-D tensors hold all heads of a token side by side.
void set_input(std::span<float> input, const std::vector<float>& values, bool flat,
               const Axes& axes) {
  if (values.size() != input.size()) fail("an input has the wrong count of numbers");
  const auto [batches, heads, tokens, width] = axes;
  std::size_t at = 0;
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t i = 0; i < tokens; ++i) {
        for (std::int64_t c = 0; c < width; ++c, ++at) {
          const std::int64_t from = ((b * tokens + i) * heads + h) * width + c;
          input[at] = values[flat ? static_cast<std::size_t>(from) : at];
        }
      }
    }
  }
}

void set_past(attn::Pipeline& pipeline, StageId stage, const std::vector<float>& values) {
  const attn::Shape shape = attn::shape_of(stage, pipeline.config());
  auto from = values.begin();
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t g = 0; g < shape.heads; ++g) {
      const attn::Matrix rows = pipeline.past(stage, b, g);
      const auto count = static_cast<std::ptrdiff_t>(rows.rows * rows.cols);
      if (values.end() - from < count) fail("the past has the wrong count of numbers");
      std::copy_n(from, count, rows.data);
      from += count;
    }
  }
  if (from != values.end()) fail("the past has the wrong count of numbers");
}

json output(const attn::Pipeline& pipeline, StageId stage) {
  const attn::Shape shape = attn::shape_of(stage, pipeline.config());
  return {{"shape", {shape.batch, shape.heads, shape.rows, shape.cols}},
          {"data", as_json(pipeline.stage(stage))}};
}

StageId scores_of(const attn::Config& config, int mode) {
  if (mode < 0 || mode > 3) fail("unknown qk_matmul_output_mode " + std::to_string(mode));
  if (mode == 3) return StageId::kWeights;
  if (mode == 2 && attn::applies(StageId::kMaskedScores, config)) return StageId::kMaskedScores;
  if (mode >= 1 && attn::applies(StageId::kCappedScores, config)) return StageId::kCappedScores;
  return StageId::kScaledScores;
}

// A case as the core takes it.
struct Read {
  bool flat;
  Axes q, k, v;
  attn::Config config;  // without its valid lengths, which are beside it
  std::vector<std::int32_t> lengths;
};

Read read(const json& node) {
  if (node.at("op") != "Attention") fail("unknown operator " + node.at("op").dump());
  const json& attributes = node.at("attributes");
  const json& inputs = node.at("inputs");
  require_known(
      "attribute", attributes,
      {"is_causal", "kv_num_heads", "q_num_heads", "qk_matmul_output_mode", "scale", "softcap"});
  require_known("input", inputs,
                {"Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"});
  const bool flat = inputs.at("Q").at("shape").size() == 3;
  const Axes q = axes_of(inputs.at("Q"), flat, attributes.value("q_num_heads", 0));
  const Axes k = axes_of(inputs.at("K"), flat, attributes.value("kv_num_heads", 0));
  const Axes v = axes_of(inputs.at("V"), flat, attributes.value("kv_num_heads", 0));
  attn::Config config{.batch = q[0],
                      .heads = q[1],
                      .kv_heads = k[1],
                      .tq = q[2],
                      .tk = k[2],
                      .d_k = q[3],
                      .d_v = v[3],
                      .masked = inputs.contains("attn_mask"),
                      .causal = attributes.value("is_causal", 0) == 1};
  if (inputs.contains("past_key")) config.past = inputs["past_key"].at("shape").at(2);
  config.tk += config.past;
  if (attributes.contains("scale")) config.scale = attributes["scale"].get<float>();
  // The operator's 0 means none.
  if (attributes.value("softcap", 0.0F) != 0) config.softcap = attributes["softcap"].get<float>();
  std::vector<std::int32_t> lengths;
  if (inputs.contains("nonpad_kv_seqlen")) {
    lengths = inputs["nonpad_kv_seqlen"].at("data").get<std::vector<std::int32_t>>();
  }
  return {flat, q, k, v, config, lengths};
}

attn::GivenMask given_mask(const json& inputs, std::vector<std::int64_t>& shape,
                           std::vector<float>& values) {
  if (!inputs.contains("attn_mask")) return {};
  const json& mask = inputs["attn_mask"];
  shape = mask.at("shape").get<std::vector<std::int64_t>>();
  values = numbers(mask);
  return {shape, mask.at("dtype") == "bool", values};
}

json compute(const json& node) {
  Read item = read(node);
  auto& [flat, q, k, v, config, lengths] = item;
  config.valid_lengths = lengths;
  const json& attributes = node.at("attributes");
  const json& inputs = node.at("inputs");
  attn::Pipeline pipeline;
  require_ok(pipeline.configure(config));
  set_input(pipeline.input(StageId::kQ), numbers(inputs.at("Q")), flat, q);
  set_input(pipeline.input(StageId::kK), numbers(inputs.at("K")), flat, k);
  set_input(pipeline.input(StageId::kV), numbers(inputs.at("V")), flat, v);
  if (inputs.contains("past_key")) {
    set_past(pipeline, StageId::kPresentKey, numbers(inputs["past_key"]));
    set_past(pipeline, StageId::kPresentValue, numbers(inputs.at("past_value")));
  }
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  const attn::GivenMask mask = given_mask(inputs, shape, values);
  if (config.masked) require_ok(pipeline.set_mask(mask));
  pipeline.run();

  json outputs{{"Y", output(pipeline, flat ? StageId::kConcat : StageId::kHeads)},
               {"qk_matmul_output",
                output(pipeline, scores_of(config, attributes.value("qk_matmul_output_mode", 0)))}};
  if (flat) outputs["Y"]["shape"] = {q[0], q[2], q[1] * v[3]};
  if (config.past > 0) {
    outputs["present_key"] = output(pipeline, StageId::kPresentKey);
    outputs["present_value"] = output(pipeline, StageId::kPresentValue);
  }
  return outputs;
}

// Past rows, then new ones, of every matrix.
std::vector<float> joined(const std::vector<float>& past, std::int64_t past_rows,
                          const std::vector<float>& fresh, std::int64_t rows, std::int64_t width) {
  std::vector<float> out;
  const auto append = [&](const std::vector<float>& from, std::int64_t matrix, std::int64_t count) {
    const auto first = from.begin() + matrix * count * width;
    out.insert(out.end(), first, first + count * width);
  };
  const std::int64_t cells = (past_rows + rows) * width;
  const auto total = static_cast<std::int64_t>(past.size() + fresh.size());
  for (std::int64_t matrix = 0; cells > 0 && matrix < total / cells; ++matrix) {
    append(past, matrix, past_rows);
    append(fresh, matrix, rows);
  }
  return out;
}

json compute_fused(const json& node) {
  const Read item = read(node);
  const bool flat = item.flat;
  attn::Config config = item.config;
  config.valid_lengths = item.lengths;
  const json& inputs = node.at("inputs");
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  const attn::GivenMask mask = given_mask(inputs, shape, values);
  attn::Attention attention;
  require_ok(attention.configure(config, mask));
  if (config.masked) require_ok(attention.set_mask(mask.values));
  set_input(attention.input(StageId::kQ), numbers(inputs.at("Q")), flat, item.q);
  const auto set_keys = [&](StageId stage, const char* name, const char* past, const Axes& axes) {
    std::vector<float> fresh(static_cast<std::size_t>(axes[0] * axes[1] * axes[2] * axes[3]));
    set_input(fresh, numbers(inputs.at(name)), flat, axes);
    const std::vector<float> before =
        config.past > 0 ? numbers(inputs.at(past)) : std::vector<float>();
    const std::vector<float> all = joined(before, config.past, fresh, axes[2], axes[3]);
    const std::span<float> input = attention.input(stage);
    if (all.size() != input.size()) fail("an input has the wrong count of numbers");
    std::ranges::copy(all, input.begin());
  };
  set_keys(StageId::kPresentKey, "K", "past_key", item.k);
  set_keys(StageId::kPresentValue, "V", "past_value", item.v);
  attention.run(0, attention.rows());

  const auto [batches, heads, queries, d_k] = item.q;
  const std::int64_t d_v = item.v[3];
  std::vector<float> y(attention.output().begin(), attention.output().end());
  if (!flat) return {{"Y", {{"shape", {batches, heads, queries, d_v}}, {"data", as_json(y)}}}};
  // Heads side by side for each token.
  std::size_t at = 0;
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::int64_t i = 0; i < queries; ++i) {
      for (std::int64_t h = 0; h < heads; ++h) {
        for (std::int64_t c = 0; c < d_v; ++c, ++at) {
          const std::int64_t from = ((b * heads + h) * queries + i) * d_v + c;
          y[at] = attention.output()[static_cast<std::size_t>(from)];
        }
      }
    }
  }
  return {{"Y", {{"shape", {batches, queries, heads * d_v}}, {"data", as_json(y)}}}};
}

}  // namespace

// With any argument the case goes through fused attention, which gives the result alone.
int main(int argc, char**) {
  try {
    const json node = json::parse(std::cin);
    std::cout << (argc > 1 ? compute_fused(node) : compute(node)) << "\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
