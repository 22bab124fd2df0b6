import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';

/** An authority of one test. */
export interface TestAuthority {
  /** The file with its certificate, for `NODE_EXTRA_CA_CERTS`. */
  readonly file: string;
  readonly cert: string;
  /** Signs a certificate for names as openssl writes them: `DNS:localhost`, `IP:127.0.0.1`. */
  issue(...names: string[]): {readonly key: string; readonly cert: string};
}

/** Makes an authority with openssl; its files go with the test. */
export function createAuthority(): TestAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'mycli-test-authority-'));
  onTestFinished(() => rmSync(folder, {recursive: true}));
  const openssl = (...args: string[]) => execFileSync('openssl', args, {cwd: folder, stdio: 'pipe'});
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
  openssl(...request, '-subj', '/CN=Test Authority', '-keyout', 'ca.key', '-out', 'ca.pem');
  let issued = 0;
  return {
    file: join(folder, 'ca.pem'),
    cert: readFileSync(join(folder, 'ca.pem'), 'utf8'),
    issue(...names) {
      issued += 1;
      const [key, cert, config] = [`${issued}.key`, `${issued}.pem`, `${issued}.cnf`];
      writeFileSync(join(folder, config), '[req]\ndistinguished_name = dn\n[dn]\n');
      const extensions = [`subjectAltName=${names.join(',')}`, 'basicConstraints=critical,CA:FALSE'];
      openssl(
        ...[...request, '-config', config, '-subj', '/CN=server', '-CA', 'ca.pem', '-CAkey', 'ca.key'],
        ...extensions.flatMap((extension) => ['-addext', extension]),
        ...['-keyout', key, '-out', cert],
      );
      return {key: readFileSync(join(folder, key), 'utf8'), cert: readFileSync(join(folder, cert), 'utf8')};
    },
  };
}
