/**
 * Imports a package, or the file at a URL. `scripts/bundle.js` makes bundled code call this instead of `import()`, as
 * that fails in the compiled code that `src/cli/process/code-cache.ts` keeps; it keeps none of this file.
 */
export async function importModule(specifier: string): Promise<unknown> {
  return import(specifier) as Promise<unknown>;
}
