/**
 * Whether a command is oclif's although it is part of our package: those for plugins, which come without the npm and
 * the Yarn that oclif's own package brings. They print what they like, and their `--json` is oclif's.
 */
export function isOclifCommand(id: string): boolean {
  return id === 'plugins' || id.startsWith('plugins:');
}
