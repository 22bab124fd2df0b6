/**
 * The environment variable that stands for a flag: `MYCLI_` and the flag in capitals with underscores. `--origin` is the
 * exception: its variable is the one that the library reads too.
 */
export function environmentName(flag: string): string {
  return flag === 'origin' ? 'MYCLI_RUNTIME_ORIGIN' : `MYCLI_${flag.toUpperCase().replaceAll('-', '_')}`;
}
