import type {WriteStream} from 'node:tty';
import {stripVTControlCharacters} from 'node:util';
import type {DefaultRenderer} from 'listr2';

/** Moves up a line and empties it. */
const eraseLineAbove = '\u001B[1A\u001B[2K';

/**
 * listr2's renderer, for a terminal that changes its width: one that becomes narrower breaks the lines that are drawn
 * already, and the next frame would leave the additional ones standing. Loads listr2.
 * @param write writes past everything that keeps others from writing while the list is drawn.
 */
export async function createTaskListRenderer(
  stream: WriteStream,
  write: (text: string) => void,
): Promise<typeof DefaultRenderer> {
  const listr2 = await import('listr2');
  return class extends listr2.DefaultRenderer {
    // The list goes to stderr, and does not depend on what stdout is.
    static override readonly nonTTY = true;

    #frame = '';
    #columns = stream.columns;
    readonly #onResize = () => {
      const more = rowsOf(this.#frame, stream.columns) - rowsOf(this.#frame, this.#columns);
      this.#columns = stream.columns;
      if (more > 0) write(eraseLineAbove.repeat(more));
    };

    override async render(): Promise<void> {
      await super.render();
      stream.on('resize', this.#onResize);
    }

    override create(options?: Parameters<DefaultRenderer['create']>[0]): string {
      this.#frame = super.create(options);
      this.#columns = stream.columns;
      return this.#frame;
    }

    override end(): void {
      stream.off('resize', this.#onResize);
      super.end();
    }
  };
}

/** How many rows a text takes on a terminal. One that tells no width, as when it goes away, breaks no line. */
function rowsOf(text: string, columns: number): number {
  const width = columns > 0 ? columns : Number.POSITIVE_INFINITY;
  const rows = text.split('\n').map((line) => Math.ceil(stripVTControlCharacters(line).length / width));
  return rows.reduce((sum, count) => sum + Math.max(1, count), 0);
}
