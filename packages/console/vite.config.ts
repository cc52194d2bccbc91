import { defineConfig } from 'vite';

/** Builds the console into `dist/console`; `tools/scripts/build.mjs` names another folder first, and calls it with `npm run build`. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    manifest: true,
    // The policy of the page lets no script and no style stand in it, and small images come as files like all others.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // What bpmn-js weighs, which comes only with a diagram.
    chunkSizeWarningLimit: 700,
    reportCompressedSize: false,
  },
  server: { proxy: { '^/(?!console/(?!settings|evaluation))': 'http://127.0.0.1:3000' } },
});
