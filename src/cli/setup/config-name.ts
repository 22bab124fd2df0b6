import {readdir} from 'node:fs/promises';
import {basename, join} from 'node:path';

const names = ['mycli.config.ts', 'mycli.config.mjs', 'mycli.config.json'] as const;
export type NewConfigName = (typeof names)[number];

/** The name of a new configuration file that no `tsconfig` includes: it could break the build of the project. */
export async function newConfigName(directory: string, existing: string | undefined): Promise<NewConfigName> {
  const old = existing === undefined ? '' : basename(existing);
  const same = names.find((name) => name === old);
  if (same !== undefined) return same;
  // It comes before those with other endings.
  if (old.startsWith('mycli.config.')) return 'mycli.config.ts';
  const programs = await programsOf(directory);
  return names.find((name) => !programs.some((includes) => includes(join(directory, name)))) ?? 'mycli.config.json';
}

async function programsOf(directory: string): Promise<readonly ((path: string) => boolean)[]> {
  const found = (await readdir(directory)).filter((name) => /^tsconfig(?:\..+)?\.json$/.test(name));
  const {createFilesMatcher, getTsconfig, parseTsconfig} = await import('get-tsconfig');
  // Without one of its own, a member of a workspace may be part of the program above it.
  const paths =
    found.length > 0 ? found.map((name) => join(directory, name)) : [getTsconfig(directory)?.path ?? []].flat();
  return paths.map((path) => {
    try {
      const includes = createFilesMatcher({path, config: parseTsconfig(path)});
      return (file) => includes(file) !== undefined;
    } catch {
      // It extends what is not installed: nobody knows what it includes.
      return (file) => !file.endsWith('.json');
    }
  });
}
