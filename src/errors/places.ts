import {isAbsolute} from 'node:path';
import {fileURLToPath} from 'node:url';

/** `at PLACE`, `at async PLACE` or `at NAME (PLACE)`. There may be parentheses in a path, and in a name. */
const stackLine =
  /^(?: +at (?:async )?(?:(?!file:|[/\\]|\w:[/\\]).*? \()?)?((?:file:|[/\\]|\w:[/\\]).*?):(\d+)(?::\d+)?\)?$/;

/** The places in files that the stack of an error names, innermost first. A syntax error has it in the first line. */
export function placesIn(error: unknown): readonly {readonly path: string; readonly line: string}[] {
  const {stack = ''} = error instanceof Error ? error : {};
  return stack.split('\n').flatMap((text) => {
    const [, place = '', line = ''] = stackLine.exec(text) ?? [];
    const path = place.startsWith('file:') ? fileURLToPath(place) : place;
    return isAbsolute(path) ? [{path, line}] : [];
  });
}

/** The innermost place in a project's own code, not in a package's. A project may be below a `node_modules` itself. */
export function placeInProject(error: unknown, directory: string) {
  const packageOf = (path: string) => /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+/.exec(path)?.[0];
  return placesIn(error).find(({path}) => [undefined, packageOf(directory)].includes(packageOf(path)));
}
