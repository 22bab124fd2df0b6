import {HttpFailure} from '../http-failure.js';

const maxPathLength = 4096;

/**
 * The path of an archive's entry: relative, `/` between its parts, nothing but names. Empty for the archive's own root.
 * @throws HttpFailure 422 for a path that would leave the folder it is unpacked into, on any platform.
 */
export function entryPath(name: string): string {
  const unsafe =
    name.length > maxPathLength ||
    name.includes('\0') ||
    /^(?:[/\\]|[A-Za-z]:[/\\])/.test(name) ||
    name.split(/[/\\]/).includes('..');
  if (unsafe || name === '') {
    throw new HttpFailure(422, `The archive holds an unsafe path: ${JSON.stringify(name.slice(0, 200))}.`);
  }
  return name
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}
