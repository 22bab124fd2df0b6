import {hierarchy, treemap, type HierarchyRectangularNode} from 'd3-hierarchy';
import prettyBytes from 'pretty-bytes';
import {markup, shortened, type Html} from './html.js';

/** A file as the treemap needs it. */
export interface SizedFile {
  /** With `/` between folders. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** The class of its color. */
  readonly kind: string;
}

interface Folder {
  /** Empty for the root. */
  readonly path: string;
  readonly inner: Map<string, Folder | SizedFile>;
}

/** A file or a folder at its place, in units of the map. */
type Cell = HierarchyRectangularNode<Folder | SizedFile>;

const [width, height, header] = [1000, 600, 20];
/** What is smaller, and what is in a folder that is smaller, has no cell of its own. */
const [smallestArea, smallestFolder] = [400, 3 * header];

/** A picture of files: the larger an area, the more bytes. */
export function renderTreemap(files: readonly SizedFile[]): Html {
  const tree = hierarchy<Folder | SizedFile>(folderOf(files), (node) => ('inner' in node ? node.inner.values() : null))
    .sum((node) => ('size' in node ? node.size : 0))
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const place = treemap<Folder | SizedFile>()
    .size([width, height])
    .paddingOuter(({depth}) => (depth === 0 ? 0 : 3))
    .paddingTop(({depth}) => (depth === 0 ? 0 : header));
  return markup`<svg class="treemap" role="img" aria-label="Treemap of the files: the larger an area, the more bytes. The table below has the largest in words.">
${(place(tree).children ?? []).map(renderCells)}</svg>`;
}

function folderOf(files: readonly SizedFile[]): Folder {
  const root: Folder = {path: '', inner: new Map()};
  for (const file of files) {
    const parts = file.path.split('/');
    let folder = root;
    for (const part of parts.slice(0, -1)) {
      const known = folder.inner.get(part);
      const next = known && 'inner' in known ? known : {path: `${folder.path}${part}/`, inner: new Map()};
      folder.inner.set(part, next);
      folder = next;
    }
    folder.inner.set(parts.at(-1) ?? '', file);
  }
  return root;
}

/** The cell of a file, or that of a folder and those in it. */
function renderCells(cell: Cell): readonly Html[] {
  const {x0, y0, x1, y1, children = [], data} = cell;
  const [across, down] = [x1 - x0, y1 - y0];
  if (across * down < smallestArea) return [];
  const isOpen = children.length > 0 && across >= smallestFolder && down >= smallestFolder;
  const part = (length: number, whole: number) => `${((100 * length) / whole).toFixed(2)}%`;
  const size = across < 110 || down < 36 ? markup` class="small"` : undefined;
  const name = data.path.slice(data.path.lastIndexOf('/', data.path.length - 2) + 1);
  const rect = markup`<rect class="${isOpen ? 'folder' : kindOf(cell)}" width="100%" height="100%"/>`;
  const label =
    across > 36 && down > 18
      ? markup`<text x="4" y="14"${size}>${shortened(name, Math.floor(across / 7))}</text>`
      : undefined;
  const own = markup`<svg x="${part(x0, width)}" y="${part(y0, height)}" width="${part(across, width)}" height="${part(down, height)}">
<title>${shortened(data.path, 200)}: ${prettyBytes(cell.value ?? 0)}</title>${rect}${label}</svg>
`;
  return isOpen ? [own, ...children.flatMap(renderCells)] : [own];
}

/** The kind of all files in a cell. */
function kindOf(cell: Cell): string {
  const kinds = new Set(cell.leaves().map(({data}) => ('kind' in data ? data.kind : 'mixed')));
  const [only = 'mixed', ...others] = kinds;
  return others.length === 0 ? only : 'mixed';
}
