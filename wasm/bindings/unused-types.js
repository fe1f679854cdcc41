/**
 * A JavaScript library for Emscripten. Embind registers every type that C++ has; the bindings pass no
 * wide strings, and without the code for them the script is a twelfth smaller.
 */
addToLibrary({
  _embind_register_std_wstring: () => {},
});
