/**
 * Whether a command is oclif's although it is part of our package. These are the plugin commands, without the npm and
 * Yarn of oclif's own package, and another name for `autocomplete`. They print what they like, and their `--json` is
 * oclif's.
 */
export function isOclifCommand(id: string): boolean {
  return id === 'plugins' || id.startsWith('plugins:') || id === 'completion';
}
