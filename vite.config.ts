/** Builds the hosted page and the stand-alone widget as one static site with relative addresses. */
import { defineConfig, type IndexHtmlTransformContext } from 'vite';

/** Fetched when they are first needed; everything else of the widget comes in one piece. */
const later =
  /(widget\/(overflow|tools|page-end|engine-panel|speed|plain-loop|grid-controller|grid-keys|scale-lab|address-bar|insight|whole-run|next-cell)|view\/(dialogs|engine-panel|scale-lab|heat-\w+|region|later-styles|gradients|inspector)|format\/explain|lessons\/presets|core\/(pause|work|session|attend|masks|whole-errors)|state\/(address|changes|packed|reducer|size-conflicts|size-limit)|io\/)/;
const isFirst = (id: string) =>
  (/\/web\/(?!page\/|core\/generated\/attention)/.test(id) ||
    /node_modules\/(@lit|lit)/.test(id)) &&
  !later.test(id);

const same = (code: string) => code;
/** CSS without comments and the blanks that only a reader needs. */
const dense = (code: string) =>
  code
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/([;{},])\s*\n\s*/g, '$1')
    .replace(/: (?=[^\n{]*;)/g, ':')
    .replace(/ \{/g, '{');

/** Minifiers leave template literals alone; the indentation of our HTML and CSS is not content. */
const withoutIndentation = {
  name: 'without-indentation',
  transform: (code: string, id: string) =>
    /\/web\/.*\.ts$/.test(id) && !id.includes('generated')
      ? {
          code: (/styles\.ts$/.test(id) ? dense : same)(code).replace(/\n[ \t]+/g, '\n'),
          map: null,
        }
      : null,
};

/**
 * No lazy part has a style sheet of its own, so nothing is to be fetched before its script: what Vite
 * puts around every import() for that is taken off, and so is the second of two equal addresses.
 */
const withoutPreloads = {
  name: 'without-preloads',
  enforce: 'pre' as const,
  load: (id: string) =>
    id.endsWith('vite/preload-helper.js') ? 'export const __vitePreload = (load) => load();' : null,
  renderChunk: (code: string) => ({
    code: code
      .replace(
        /__vitePreload\(\(\) => (import\([^)]*\)(?:\.then\(\(n\) => n\.\w+\))?), __VITE_PRELOAD__, import\.meta\.url\)/g,
        '$1',
      )
      .replace(
        /__vitePreload\(async \(\) => \{\s*const \{[^}]*\} = await (import\([^)]*\));\s*return \{[^}]*\};\s*\}, __VITE_PRELOAD__, import\.meta\.url\)/g,
        '$1',
      )
      .replace(
        /new URL\((new URL\("[^"]*", import\.meta\.url\))\.href, "" \+ import\.meta\.url\)/g,
        '$1',
      ),
    map: null,
  }),
};

/** The page's script is small and names the widget: a browser need not read it to fetch both. */
const withWidgetAtOnce = {
  name: 'with-widget-at-once',
  transformIndexHtml: {
    order: 'post' as const,
    handler: (_html: string, { bundle }: IndexHtmlTransformContext) =>
      Object.values(bundle ?? {})
        .filter(({ name }) => name === 'widget')
        .map(({ fileName }) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', href: `./${fileName}` },
          injectTo: 'head' as const,
        })),
  },
};

/** The page's own indentation is no content either. */
const withoutHtmlIndentation = {
  name: 'without-html-indentation',
  transformIndexHtml: {
    order: 'post' as const,
    handler: (html: string) => html.replace(/\n\s+/g, '\n'),
  },
};

export default defineConfig({
  base: './',
  plugins: [withoutPreloads, withoutIndentation, withWidgetAtOnce, withoutHtmlIndentation],
  build: {
    target: 'es2022',
    // As in the widget, which no build touches, light-dark() stays as it is written.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: false,
    // A fiftieth smaller than with the default minifier.
    minify: 'terser',
    // Functions that are inlined with their arguments compress worse than their calls.
    terserOptions: {
      ecma: 2020,
      module: true,
      compress: { passes: 2, unsafe_arrows: true, inline: 1 },
    },
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: { index: 'index.html', 'attention-lab': 'web/widget/define.ts' },
      preserveEntrySignatures: 'strict',
      output: {
        // Nearly all of the widget runs at the start: Chromium compiles it while it comes in.
        postBanner: ({ name }) => (name === 'widget' ? '//# allFunctionsCalledOnLoad' : ''),
        codeSplitting: { groups: [{ name: 'widget', test: isFirst }] },
        // The widget is embedded by name; everything else carries its hash.
        entryFileNames: ({ name }) =>
          name === 'attention-lab' ? '[name].js' : 'assets/[name]-[hash].js',
      },
    },
  },
  worker: {
    format: 'es',
  },
});
