/**
 * Patterns that match everything in a folder, to a depth of names that begin with a dot. In the patterns of a bundle,
 * no wildcard matches that dot.
 * @param folder Empty, or ends with a slash.
 */
export function everythingIn(folder: string, depth: number): readonly string[] {
  const dots = Array.from({length: depth}, (_, level) => `${folder}${'**/.*/'.repeat(level)}**/.*`);
  return [`${folder}**/*`, ...dots.flatMap((pattern) => [pattern, `${pattern}/**`])];
}

/** The most names of one path that begin with a dot. */
export function dotNames(paths: readonly string[]): number {
  return paths.reduce((most, path) => Math.max(most, path.split('/').filter((name) => name.startsWith('.')).length), 0);
}
