/** The system packages (Debian names), listed once, by what needs them. */

/**
 * `command`: present when it is on PATH; `file`: present when the file exists (asked on Debian only:
 * elsewhere headers have other places, and CMake tells when it finds none).
 * @typedef {{ name: string, command?: string, file?: string }} SystemPackage
 */

/** @satisfies {Record<string, SystemPackage[]>} */
export const packages = {
  /** To compile with an Emscripten of this system. */
  wasmTools: [
    { name: 'cmake', command: 'cmake' },
    { name: 'ninja-build', command: 'ninja' },
  ],
  /** To make and enter a private Debian 13 that holds Emscripten. */
  privateRoot: [
    { name: 'mmdebstrap', command: 'mmdebstrap' },
    { name: 'bubblewrap', command: 'bwrap' },
  ],
  /** As an ordinary user also these. */
  privateRootUnprivileged: [{ name: 'uidmap', command: 'newuidmap' }],
  /** The native build and its tests. */
  native: [
    { name: 'g++', command: 'g++' },
    { name: 'cmake', command: 'cmake' },
    { name: 'ninja-build', command: 'ninja' },
    { name: 'libgtest-dev', file: '/usr/include/gtest/gtest.h' },
    { name: 'libsimde-dev', file: '/usr/include/simde/wasm/simd128.h' },
    { name: 'nlohmann-json3-dev', file: '/usr/include/nlohmann/json.hpp' },
  ],
  /** The browser tests. */
  browserShell: [{ name: 'chromium-headless-shell', command: 'chromium-headless-shell' }],
  /** The browser tests without that, and benchmarks, unless another Chromium is found. */
  browser: [{ name: 'chromium', command: 'chromium' }],
  /** `npm run bench -- --browser firefox`, unless another Firefox is found. */
  firefox: [{ name: 'firefox-esr', command: 'firefox-esr' }],
  /** The fuzzer; its library is `fuzzerRuntime`. */
  fuzz: [{ name: 'clang', command: 'clang++' }],
  /** The checks of the C++ sources. */
  check: [
    { name: 'clang-format', command: 'clang-format' },
    { name: 'clang-tidy', command: 'clang-tidy' },
  ],
};

/** libFuzzer for a version of clang. */
export const fuzzerRuntime = (/** @type {number} */ version) => `libclang-rt-${version}-dev`;

/** What the private Debian 13 holds. */
export const privateRootContents = ['emscripten', 'cmake', 'ninja-build', 'ca-certificates'];
