const sensitiveNames = [/^\.env/, /^\.npmrc$/, /\.(?:pem|key|p12|pfx)$/i, /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/];

/** The paths whose names say that they hold secrets: `.env*`, `.npmrc` and private keys. */
export function sensitiveFiles(paths: readonly string[]): string[] {
  return paths.filter((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return sensitiveNames.some((pattern) => pattern.test(name));
  });
}
