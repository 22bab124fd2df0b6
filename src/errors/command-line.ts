/** A command of mycli as people can paste it: what a shell would read in another way is quoted. */
export function commandLine(...args: readonly (string | number)[]): string {
  return ['mycli', ...args.map((arg) => quoted(String(arg)))].join(' ');
}

function quoted(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`;
}
