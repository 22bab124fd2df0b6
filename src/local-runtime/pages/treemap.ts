import {stratify, treemap, type HierarchyRectangularNode} from 'd3-hierarchy';
import {html} from 'hono/html';
import prettyBytes from 'pretty-bytes';
import type {Html} from './page.js';

interface SizedFile {
  /** With `/` between folders. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** The class of its color. */
  readonly kind: string;
}

/** A file, or a folder, which has no data, at its place, in units of the map. */
type Cell = HierarchyRectangularNode<SizedFile | null>;

const [width, height, header] = [1000, 600, 20];
/** What is smaller, and what is in a folder that is smaller, has no cell of its own. */
const [smallestArea, smallestFolder] = [400, 3 * header];

/** A picture of files: the larger an area, the more bytes. */
export function renderTreemap(files: readonly SizedFile[]): Html {
  if (files.every(({size}) => size === 0)) return html`<p>All files are empty.</p>`;
  // An archive may name a file twice.
  const unique = [...new Map(files.map((file) => [file.path, file])).values()];
  const tree = stratify<SizedFile | null>()
    .path((file) => file?.path ?? '')(unique)
    .sum((file) => file?.size ?? 0)
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const place = treemap<SizedFile | null>()
    .size([width, height])
    .paddingOuter(({depth}) => (depth === 0 ? 0 : 3))
    .paddingTop(({depth}) => (depth === 0 ? 0 : header));
  const label = 'Treemap of the files: the larger an area, the more bytes. The table below has the largest in words.';
  const cells = (place(tree).children ?? []).map(renderCells);
  return html`<svg class="treemap" role="img" aria-label="${label}">${cells}</svg>`;
}

/** The cell of a file, or that of a folder and those in it. */
function renderCells(cell: Cell): readonly Html[] {
  const {x0, y0, x1, y1, children = [], id = ''} = cell;
  const [across, down] = [x1 - x0, y1 - y0];
  if (across * down < smallestArea) return [];
  const isOpen = children.length > 0 && across >= smallestFolder && down >= smallestFolder;
  const part = (length: number, whole: number) => `${((100 * length) / whole).toFixed(2)}%`;
  const name = id.slice(id.lastIndexOf('/') + 1).slice(0, Math.floor(across / 7));
  const label = across > 36 && down > 18 && html`<text x="4" y="14">${name}</text>`;
  const title = `${id.slice(1, 400)}: ${prettyBytes(cell.value ?? 0)}`;
  const own = html`<svg x="${part(x0, width)}" y="${part(y0, height)}" width="${part(across, width)}" height="${part(down, height)}">
<title>${title}</title><rect class="${isOpen ? 'folder' : kindOf(cell)}" width="100%" height="100%"/>${label}</svg>
`;
  return isOpen ? [own, ...children.flatMap(renderCells)] : [own];
}

function kindOf(cell: Cell): string {
  const [only = 'mixed', ...others] = new Set(cell.leaves().map(({data}) => data?.kind ?? 'mixed'));
  return others.length === 0 ? only : 'mixed';
}
