/** Imports a package, or the file at a URL. What the bundler makes of `import()` in what it bundles. */
export async function importModule(specifier: string): Promise<unknown> {
  return import(specifier) as Promise<unknown>;
}
