import {isAbsolute} from 'node:path';
import {fileURLToPath} from 'node:url';

/** A line of a file that the stack of an error names. */
export interface Place {
  /** Absolute. */
  readonly path: string;
  readonly line: string;
}

/** The places in files that the stack of an error names, innermost first. A syntax error has it in the first line. */
export function placesIn(error: unknown): readonly Place[] {
  const {stack = ''} = error instanceof Error ? error : {};
  return stack.split('\n').flatMap((text) => {
    const [, place = '', line = ''] = stackLine.exec(text) ?? [];
    const path = place.startsWith('file:') ? fileURLToPath(place) : place;
    return isAbsolute(path) ? [{path, line}] : [];
  });
}

/** `at PLACE`, `at async PLACE` or `at NAME (PLACE)`. There may be parentheses in a path, and in a name. */
const stackLine =
  /^(?: +at (?:async )?(?:(?!file:|[/\\]|\w:[/\\]).*? \()?)?((?:file:|[/\\]|\w:[/\\]).*?):(\d+)(?::\d+)?\)?$/;

/** The places in code of a project, not in that of packages: of its own, if it is below a `node_modules` itself. */
export function placesOfProject(error: unknown, directory: string): readonly Place[] {
  return placesIn(error).filter(({path}) => [undefined, packageOf(directory)].includes(packageOf(path)));
}

function packageOf(path: string): string | undefined {
  return /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+/.exec(path)?.[0];
}
