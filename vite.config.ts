/** Builds the hosted page and the stand-alone widget as one static site with relative addresses. */
import { defineConfig } from 'vite';

// The WASM glue names Node's `module` in a branch that browsers never take.
const external = [/^(node:)?module$/];

/** Minifiers leave template literals alone; the indentation of our HTML and CSS is not content. */
const withoutIndentation = {
  name: 'without-indentation',
  transform: (code: string, id: string) =>
    /\/web\/.*\.ts$/.test(id) && !id.includes('generated')
      ? { code: code.replace(/\n[ \t]+/g, '\n'), map: null }
      : null,
};

export default defineConfig({
  base: './',
  plugins: [withoutIndentation],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    rolldownOptions: {
      external,
      input: { index: 'index.html', 'attention-lab': 'web/widget/define.ts' },
      preserveEntrySignatures: 'strict',
      output: {
        // The widget is embedded by name; everything else carries its hash.
        entryFileNames: ({ name }) =>
          name === 'attention-lab' ? '[name].js' : 'assets/[name]-[hash].js',
      },
    },
  },
  worker: {
    format: 'es',
    rolldownOptions: { external },
  },
});
