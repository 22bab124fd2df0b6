/** A file as the treemap needs it. */
export interface SizedFile<Kind extends string> {
  /** With `/` between folders. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly kind: Kind;
}

/** A folder, a file, or what is too small to be shown on its own. */
export interface TreeNode<Kind extends string> {
  /** The last part of the path; several if a folder has only one folder in it. */
  readonly name: string;
  /** Empty for the root. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Number of files. */
  readonly files: number;
  /** The kind of all its files, or `mixed`. */
  readonly kind: Kind | 'mixed';
  /** Of a folder: the largest first. */
  readonly children?: readonly TreeNode<Kind>[] | undefined;
}

/** Deeper folders are part of a file's name, so that no path makes a tree without end. */
const deepest = 40;

interface Folder<Kind extends string> {
  readonly folders: Map<string, Folder<Kind>>;
  readonly files: TreeNode<Kind>[];
}

/** Sorts files into their folders. */
export function treeOf<Kind extends string>(files: Iterable<SizedFile<Kind>>): TreeNode<Kind> {
  const root: Folder<Kind> = {folders: new Map(), files: []};
  for (const {path, size, kind} of files) {
    const parts = path.split('/');
    let folder = root;
    for (const part of parts.slice(0, Math.min(parts.length - 1, deepest))) {
      const next = folder.folders.get(part) ?? {folders: new Map(), files: []};
      folder.folders.set(part, next);
      folder = next;
    }
    folder.files.push({name: parts.slice(deepest).join('/') || (parts.at(-1) ?? ''), path, size, files: 1, kind});
  }
  return nodeOf('', '', root);
}

function nodeOf<Kind extends string>(name: string, path: string, folder: Folder<Kind>): TreeNode<Kind> {
  const [only, ...others] = folder.folders;
  // A folder with nothing but a folder in it is shown as one.
  if (only !== undefined && others.length === 0 && folder.files.length === 0 && path !== '')
    return nodeOf(`${name}/${only[0]}`, `${path}/${only[0]}`, only[1]);
  const within = [...folder.folders].map(([key, next]) => nodeOf(key, path === '' ? key : `${path}/${key}`, next));
  return {name, path, ...summaryOf([...within, ...folder.files])};
}

function summaryOf<Kind extends string>(
  nodes: readonly TreeNode<Kind>[],
): Pick<TreeNode<Kind>, 'size' | 'files' | 'kind' | 'children'> {
  const [first] = nodes;
  return {
    size: nodes.reduce((sum, node) => sum + node.size, 0),
    files: nodes.reduce((sum, node) => sum + node.files, 0),
    kind: first !== undefined && nodes.every(({kind}) => kind === first.kind) ? first.kind : 'mixed',
    children: nodes.toSorted((a, b) => b.size - a.size),
  };
}

/** A place in the treemap, in units of its width and height. */
export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A node and its place. */
export interface Cell<Kind extends string> extends Rectangle {
  readonly node: TreeNode<Kind>;
  /** `folder`: a frame around the cells after it. `rest`: several files, or a folder, as one. */
  readonly role: 'folder' | 'file' | 'rest';
}

/** How to lay out a treemap. */
export interface TreemapOptions {
  readonly width: number;
  readonly height: number;
  /** Height of a folder's name. */
  readonly header: number;
  /** The smallest part of the whole that gets a cell of its own, from 0 to 1. Limits the number of cells. */
  readonly smallest: number;
}

/** Lays out a squarified treemap: areas are sizes, and cells are nearly square. Outer cells come before inner ones. */
export function layOut<Kind extends string>(root: TreeNode<Kind>, options: TreemapOptions): readonly Cell<Kind>[] {
  const {width, height, header, smallest} = options;
  const least = width * height * smallest;
  const cells: Cell<Kind>[] = [];
  const place = (node: TreeNode<Kind>, at: Rectangle): void => {
    const {children} = node;
    if (children === undefined) {
      cells.push({...at, node, role: 'file'});
      return;
    }
    const isRoot = node === root;
    const inner = isRoot ? at : within(at, header);
    const perByte = node.size === 0 ? 0 : (inner.width * inner.height) / node.size;
    const shown = children.filter(({size}) => size > 0 && size * perByte >= least);
    const rest = children.slice(shown.length).filter(({size}) => size > 0);
    // A frame needs room for its name.
    if (shown.length === 0 || (!isRoot && (at.width < 3 * header || at.height < 3 * header))) {
      if (node.size > 0) cells.push({...at, node, role: 'rest'});
      return;
    }
    if (!isRoot) cells.push({...at, node, role: 'folder'});
    const more = rest.length === 0 ? [] : [{name: '', path: node.path, ...summaryOf(rest)}];
    const parts = [...shown, ...more].toSorted((a, b) => b.size - a.size);
    const places = squarify(
      parts.map(({size}) => size),
      inner,
    );
    for (const [index, part] of parts.entries()) {
      const own = places[index];
      if (own === undefined) continue;
      if (more.includes(part)) cells.push({...own, node: part, role: 'rest'});
      else place(part, own);
    }
  };
  if (root.size > 0) place(root, {x: 0, y: 0, width, height});
  return cells;
}

/** What a folder's frame leaves for its content. */
function within({x, y, width, height}: Rectangle, header: number): Rectangle {
  const edge = header / 6;
  return {
    x: x + edge,
    y: y + header,
    width: Math.max(0, width - 2 * edge),
    height: Math.max(0, height - header - edge),
  };
}

/**
 * Divides a rectangle by sizes, which are positive and in descending order, into parts that are nearly square (Bruls,
 * Huizing and van Wijk).
 */
export function squarify(sizes: readonly number[], whole: Rectangle): readonly Rectangle[] {
  const scale = (whole.width * whole.height) / sizes.reduce((sum, size) => sum + size, 0);
  const areas = sizes.map((size) => size * scale);
  const places: Rectangle[] = [];
  let left = whole;
  for (let from = 0; from < areas.length;) {
    const side = Math.min(left.width, left.height);
    let end = from + 1;
    let sum = areas[from] ?? 0;
    let worst = worstRatio(areas, from, end, sum, side);
    for (; end < areas.length; end += 1) {
      const wider = sum + (areas[end] ?? 0);
      const ratio = worstRatio(areas, from, end + 1, wider, side);
      if (ratio > worst) break;
      [sum, worst] = [wider, ratio];
    }
    left = placeRow(areas.slice(from, end), sum, left, places);
    from = end;
  }
  return places;
}

/** The worst proportion in a row along `side`: its first or its last part, since they are in order. */
function worstRatio(areas: readonly number[], from: number, end: number, sum: number, side: number): number {
  const [largest = 0, smallest = 0] = [areas[from], areas[end - 1]];
  return Math.max((side * side * largest) / (sum * sum), (sum * sum) / (side * side * smallest));
}

/** Places a row along the shorter side. Returns what is left. */
function placeRow(areas: readonly number[], sum: number, left: Rectangle, places: Rectangle[]): Rectangle {
  const {x, y, width, height} = left;
  const isColumn = width >= height;
  const thickness = Math.min(sum / (isColumn ? height : width), isColumn ? width : height);
  let offset = 0;
  for (const area of areas) {
    const length = thickness === 0 ? 0 : area / thickness;
    places.push(
      isColumn
        ? {x, y: y + offset, width: thickness, height: length}
        : {x: x + offset, y, width: length, height: thickness},
    );
    offset += length;
  }
  return isColumn
    ? {x: x + thickness, y, width: Math.max(0, width - thickness), height}
    : {x, y: y + thickness, width, height: Math.max(0, height - thickness)};
}
