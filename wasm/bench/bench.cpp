// Speed of the kernels and of a whole staged run, natively: only ratios within one run mean
// anything.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <vector>

#include "attn/kernels.hpp"
#include "attn/pipeline.hpp"

namespace {

std::vector<float> numbers(std::size_t count) {
  std::vector<float> cells(count);
  for (std::size_t i = 0; i < count; ++i) {
    cells[i] = static_cast<float>(i * 7919 % 1021) / 1021 - 0.5F;
  }
  return cells;
}

double flops_of_product(std::size_t m, std::size_t k, std::size_t n) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
}

void count_flops(benchmark::State& state, double flops) {
  state.counters["flops"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

// The two products of attention at T tokens and width 64: Q·Kᵀ and A·V.
void product(benchmark::State& state, std::size_t m, std::size_t k, std::size_t n) {
  const std::vector<float> a = numbers(m * k);
  const std::vector<float> b = numbers(k * n);
  std::vector<float> out(m * n);
  for (auto _ : state) {
    attn::matmul({a.data(), m, k, k}, {b.data(), k, n, n}, {out.data(), m, n, n});
    benchmark::DoNotOptimize(out.data());
  }
  count_flops(state, flops_of_product(m, k, n));
}

void scores(benchmark::State& state) {
  const auto t = static_cast<std::size_t>(state.range(0));
  product(state, t, 64, t);
}
BENCHMARK(scores)->Arg(64)->Arg(256)->Arg(1024);

void heads(benchmark::State& state) {
  const auto t = static_cast<std::size_t>(state.range(0));
  product(state, t, t, 64);
}
BENCHMARK(heads)->Arg(64)->Arg(256)->Arg(1024);

void exponential(benchmark::State& state) {
  const std::vector<float> in = numbers(4096);
  std::vector<float> out(in.size());
  for (auto _ : state) {
    attn::exponential(in, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(in.size()));
}
BENCHMARK(exponential);

void staged_run(benchmark::State& state) {
  const auto t = state.range(0);
  attn::Pipeline pipeline;
  if (!pipeline.configure({.tq = t, .tk = t, .d_k = 64, .d_v = 64}).ok()) {
    state.SkipWithError("does not fit");
    return;
  }
  for (const attn::StageId id : {attn::StageId::kQ, attn::StageId::kK, attn::StageId::kV}) {
    const std::span<float> input = pipeline.input(id);
    const std::vector<float> cells = numbers(input.size());
    std::copy(cells.begin(), cells.end(), input.begin());
  }
  for (auto _ : state) pipeline.run();
  const auto size = static_cast<std::size_t>(t);
  count_flops(state, 2 * flops_of_product(size, 64, size));
}
BENCHMARK(staged_run)->Arg(16)->Arg(64)->Arg(256)->Arg(1024);

}  // namespace
