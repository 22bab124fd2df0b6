/** The content type of a file, by its extension. */
export async function mediaType(file: string): Promise<string> {
  const {default: types} = await import('mime');
  const type = types.getType(file) ?? 'application/octet-stream';
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}
