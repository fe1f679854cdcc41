/** Packs a long text for an address: deflate, then base64 with the two letters that addresses allow. */

async function through(bytes: Uint8Array<ArrayBuffer>, stream: GenericTransformStream) {
  const piped = new Blob([bytes]).stream().pipeThrough(stream as ReadableWritablePair);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

export async function pack(text: string): Promise<string> {
  const bytes = await through(
    new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>,
    new CompressionStream('deflate-raw'),
  );
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Rejects when the text is not what `pack` made. */
export async function unpack(packed: string): Promise<string> {
  const binary = atob(packed.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  return new TextDecoder('utf-8', { fatal: true }).decode(
    await through(bytes, new DecompressionStream('deflate-raw')),
  );
}
