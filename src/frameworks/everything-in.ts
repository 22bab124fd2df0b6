/**
 * Patterns that match everything in a folder (empty, or with a slash at its end), to a depth of names that begin with a
 * dot, which no wildcard matches.
 */
export function everythingIn(folder: string, depth: number): readonly string[] {
  const dots = Array.from({length: depth}, (_, level) => `${folder}${'**/.*/'.repeat(level)}**/.*`);
  return [`${folder}**/*`, ...dots.flatMap((pattern) => [pattern, `${pattern}/**`])];
}

/** The most names of one path that begin with a dot. */
export function dotNames(paths: readonly string[]): number {
  return paths.reduce((most, path) => Math.max(most, path.match(/(?:^|\/)\./g)?.length ?? 0), 0);
}

/** Of the patterns of `everythingIn`, those that match one of `paths`: a strict service refuses others. */
export function patternsIn(folder: string, paths: readonly string[]): readonly string[] {
  const below = paths.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length).split('/'));
  const needed = new Set(
    below.map((names) => {
      const dots = '**/.*/'.repeat(names.slice(0, -1).filter((name) => name.startsWith('.')).length);
      if (names.at(-1)?.startsWith('.') === true) return `${folder}${dots}**/.*`;
      return dots === '' ? `${folder}**/*` : `${folder}${dots}**`;
    }),
  );
  return everythingIn(folder, dotNames(paths)).filter((pattern) => needed.has(pattern));
}
