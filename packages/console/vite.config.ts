import { defineConfig } from 'vite';

/** Builds the console into `dist/console`, or a folder passed by `tools/scripts/build.mjs` (`npm run build`). */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    manifest: true,
    // The Content-Security-Policy allows no inline scripts, styles or images.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // Size of bpmn-js, which is loaded only with a diagram.
    chunkSizeWarningLimit: 700,
    reportCompressedSize: false,
  },
  server: { proxy: { '^/(?!console/(?!settings|evaluation))': 'http://127.0.0.1:3000' } },
});
