// Random configurations for properties, and the smallest one that breaks a property.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <vector>

#include "attn/stages.hpp"
#include "random.hpp"

namespace attn_test {

// A configuration that owns its valid lengths.
struct Sample {
  attn::Config config{};
  std::vector<std::int32_t> lengths{};

  attn::Config with_lengths() const {
    attn::Config config_with = config;
    config_with.valid_lengths = lengths;
    return config_with;
  }
};

inline std::ostream& operator<<(std::ostream& out, const Sample& sample) {
  const attn::Config& c = sample.config;
  out << "batch " << c.batch << ", heads " << c.heads << "/" << c.kv_heads << ", T_q " << c.tq
      << ", T_k " << c.tk << ", past " << c.past << ", d_k " << c.d_k << ", d_v " << c.d_v
      << ", d_model " << c.d_model;
  if (c.from_x) out << (c.context ? ", from X and context" : ", from X");
  if (c.output_projection) out << ", W_o";
  if (c.masked) out << ", masked";
  if (c.causal) out << ", causal";
  if (c.softcap) out << ", softcap " << *c.softcap;
  if (c.scale) out << ", scale " << *c.scale;
  for (const std::int32_t length : sample.lengths) out << ", length " << length;
  return out;
}

inline Sample random_sample(Random& random) {
  const auto below = [&](int count) {
    return static_cast<std::int64_t>(random.uniform() * static_cast<float>(count));
  };
  Sample sample;
  attn::Config& c = sample.config;
  c.batch = 1 + below(2);
  c.kv_heads = 1 + below(2);
  c.heads = c.kv_heads * (1 + below(4));
  c.tq = below(6);
  c.d_k = 1 + below(5);
  c.d_v = 1 + below(5);
  c.d_model = 1 + below(4);
  c.from_x = below(2) == 1;
  c.context = c.from_x && below(2) == 1;
  c.output_projection = below(2) == 1;
  c.masked = below(2) == 1;
  c.causal = below(2) == 1;
  c.past = below(3);
  c.tk = c.past + (c.from_x && !c.context ? c.tq : below(7));
  if (below(3) == 0) c.softcap = 1.5F;
  if (below(3) == 0) c.scale = 0.3F;
  if (c.past == 0 && below(3) == 0) {
    for (std::int64_t b = 0; b < c.batch; ++b) {
      sample.lengths.push_back(static_cast<std::int32_t>(below(static_cast<int>(c.tk) + 1)));
    }
  }
  return sample;
}

// The same with one thing less, for each thing that can be left out.
inline std::vector<Sample> smaller(const Sample& sample) {
  std::vector<Sample> out;
  const auto add = [&](auto change) {
    Sample less = sample;
    change(less);
    if (attn::check(less.with_lengths()).ok()) out.push_back(less);
  };
  const attn::Config& c = sample.config;
  for (std::int64_t attn::Config::*const size :
       {&attn::Config::tq, &attn::Config::tk, &attn::Config::d_k, &attn::Config::d_v,
        &attn::Config::d_model, &attn::Config::past}) {
    if (c.*size > 0) add([&](Sample& less) { less.config.*size -= 1; });
  }
  if (c.tq > 0 && c.tk > 0) {
    add([](Sample& less) {
      less.config.tq -= 1;
      less.config.tk -= 1;
    });
  }
  if (c.batch > 1) {
    add([](Sample& less) {
      less.config.batch -= 1;
      if (!less.lengths.empty()) less.lengths.pop_back();
    });
  }
  if (c.heads > c.kv_heads) add([](Sample& less) { less.config.heads -= less.config.kv_heads; });
  if (c.kv_heads > 1) {
    add([](Sample& less) {
      less.config.heads /= less.config.kv_heads;
      less.config.kv_heads = 1;
    });
  }
  for (bool attn::Config::*const option : {&attn::Config::context, &attn::Config::output_projection,
                                           &attn::Config::masked, &attn::Config::causal}) {
    if (c.*option) add([&](Sample& less) { less.config.*option = false; });
  }
  if (c.from_x && !c.context) add([](Sample& less) { less.config.from_x = false; });
  if (c.softcap) add([](Sample& less) { less.config.softcap.reset(); });
  if (c.scale) add([](Sample& less) { less.config.scale.reset(); });
  if (!sample.lengths.empty()) add([](Sample& less) { less.lengths.clear(); });
  return out;
}

// Checks a property (Sample → AssertionResult) on many samples; reports the smallest failure.
template <typename Property>
void for_all(std::uint64_t seed, int count, Property property) {
  Random random(seed);
  for (int n = 0; n < count; ++n) {
    Sample sample = random_sample(random);
    testing::AssertionResult verdict = property(sample);
    if (verdict) continue;
    for (bool shrunk = true; shrunk;) {
      shrunk = false;
      for (const Sample& less : smaller(sample)) {
        const testing::AssertionResult again = property(less);
        if (again) continue;
        sample = less;
        verdict = again;
        shrunk = true;
        break;
      }
    }
    FAIL() << sample << ": " << verdict.message();
  }
}

}  // namespace attn_test
