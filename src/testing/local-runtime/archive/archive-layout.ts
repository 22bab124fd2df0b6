import {layoutProblem, type LayoutProblem} from '../../../bundle/prebuilt/archive-layout.js';
import {HttpFailure} from '../http-failure.js';
import type {ArchiveEntry} from './read-archive.js';

/**
 * Checks what entries are to each other, so that unpacking them writes nothing twice and nothing through a link.
 * `root` is the folder of the archive that its links have to stay in; links outside it have to stay in the archive.
 * @throws HttpFailure 422 for a path that occurs twice, one below a file or a link, and a link that leads out.
 */
export async function checkLayout(entries: readonly ArchiveEntry[], root: string): Promise<void> {
  const problem = await layoutProblem(entries, {root, mayRepeat: false});
  if (problem) throw new HttpFailure(422, describe(problem));
}

function describe({kind, entry: {path}, parent = ''}: LayoutProblem): string {
  switch (kind) {
    case 'twice':
      return `The archive holds "${path}" twice.`;
    case 'below':
      return `"${path}" in the archive lies below "${parent}", which is no folder.`;
    case 'leads-out':
      return `The symbolic link "${path}" in the archive leads out of it.`;
  }
}
