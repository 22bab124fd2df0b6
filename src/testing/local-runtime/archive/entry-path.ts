import {entryPath as pathOf} from '../../../bundle/prebuilt/archive-layout.js';
import {HttpFailure} from '../http-failure.js';

/**
 * The path of an archive's entry: relative, `/` between its parts, nothing but names. Empty for the archive's own root.
 * @throws HttpFailure 422 for a path that would leave the folder it is unpacked into, on any platform.
 */
export function entryPath(name: string): string {
  const path = pathOf(name);
  if (path !== undefined) return path;
  throw new HttpFailure(422, `The archive holds an unsafe path: ${JSON.stringify(name.slice(0, 200))}.`);
}
