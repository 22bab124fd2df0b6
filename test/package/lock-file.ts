/** A package in a lock file of version 3, as far as it is looked at. */
export interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** What npm writes into package-lock.json. */
export interface LockFile {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

const publicRegistry = 'https://registry.npmjs.org/';
/** A range of versions, perhaps of a package under another name. No address, no path, no repository. */
const fromRegistry = /^(?:npm:(?:@[^/@:]+\/)?[^/@:]+@)?[\d.x*<>=~^| -]+(?:-[\w.]+)?$/;

/**
 * A sentence for each package of which the lock file does not say that it is this very one, from the public registry.
 */
export function problemsOf({lockfileVersion, packages}: LockFile): readonly string[] {
  const problems = lockfileVersion === 3 ? [] : [`The lock file has version ${lockfileVersion}.`];
  for (const [place, entry] of Object.entries(packages)) {
    const {dependencies, devDependencies, optionalDependencies} = entry;
    for (const [name, range] of Object.entries({...dependencies, ...devDependencies, ...optionalDependencies})) {
      if (!fromRegistry.test(range)) problems.push(`${place || 'The project'} wants ${name} from ${range}.`);
    }
    // What is in a bundle comes with the package around it, and is covered by its hash.
    if (place === '' || entry.inBundle === true) continue;
    if (entry.link === true) problems.push(`${place} is a link.`);
    if (entry.resolved !== undefined && !entry.resolved.startsWith(publicRegistry))
      problems.push(`${place} comes from ${entry.resolved}.`);
    if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? '')) problems.push(`${place} has no SHA-512.`);
  }
  return problems;
}
