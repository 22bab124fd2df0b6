import {createHash} from 'node:crypto';
import {describe, expect, test} from 'vitest';
import {backendLocation} from '../../src/backends/resolve-backend.js';
import {BearerTokenStrategy} from '../../src/http/auth/strategies.js';

const acme = {name: 'acme', secrets: ['token']};
const here = {configDirectory: '/project', env: {}};
const optionsOf = (backendOptions: Readonly<Record<string, unknown>>, configDirectory = '/project') =>
  backendLocation(acme, {backendOptions}, {configDirectory, env: {}});

describe('the location of a backend', () => {
  test('is the address of a built-in one, however it is written', () => {
    const auth = new BearerTokenStrategy('canary');
    const apiConnection = {origin: 'Api.example/', organizationId: 'org', auth};
    const api = backendLocation({name: 'api'}, {apiConnection, origin: 'https://runtime.example'}, here);
    expect(api).toEqual({backend: 'api', origin: 'https://api.example', organizationId: 'org'});
    const legacy = {backend: 'legacy', origin: 'https://runtime.example'};
    expect(backendLocation({name: 'legacy'}, {origin: 'https://runtime.example/'}, here)).toEqual(legacy);
    const env = {MYCLI_RUNTIME_ORIGIN: 'https://runtime.example'};
    expect(backendLocation({name: 'legacy'}, {}, {...here, env})).toEqual(legacy);
  });

  test('names no address that nobody has set', () => {
    expect(backendLocation({name: 'api'}, {}, here)).toEqual({backend: 'api'});
    expect(backendLocation({name: 'legacy'}, {}, here)).toEqual({backend: 'legacy'});
    expect(() => backendLocation({name: 'legacy'}, {origin: 'ftp://a'}, here)).toThrow(/^origin .*ftp/);
  });

  test('is that of no options when a plugin has none', () => {
    expect(backendLocation({name: 'acme'}, {}, here)).toEqual(optionsOf({}));
    const optionsSha256 = createHash('sha256').update('[]').digest('hex');
    expect(optionsOf({})).toEqual({backend: 'acme', optionsSha256});
    expect(backendLocation({name: 'acme'}, {backendOptions: {a: 1}}, here)).toEqual(optionsOf({a: 1}));
  });

  test('is told by the options of a plugin, in any order, without its secrets', () => {
    const location = optionsOf({bucket: 'b', region: 'eu', token: 'canary'});
    expect(JSON.stringify(location)).not.toContain('canary');
    expect(optionsOf({region: 'eu', token: 'another', bucket: 'b'})).toEqual(location);
    expect(optionsOf({region: 'us', bucket: 'b'})).not.toEqual(location);
    const written = createHash('sha256').update('["/project",[["bucket","b"],["region","eu"]]]').digest('hex');
    expect(location).toEqual({backend: 'acme', optionsSha256: written});
  });

  test('is another one in another folder, because options may be relative paths', () => {
    const options = {directory: 'store'};
    expect(optionsOf(options, '/one')).not.toEqual(optionsOf(options, '/two'));
    expect(optionsOf({}, '/one')).toEqual(optionsOf({}, '/two'));
    expect(backendLocation({name: 'api'}, {}, {...here, configDirectory: '/two'})).toEqual({backend: 'api'});
  });
});
