import { spawn } from 'node:child_process';
import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

const MEDIA = 'application/vnd.oci.image';

/** A blob of the layout, as manifests name it. */
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  annotations?: Record<string, string>;
}

/** What the image is made of. */
export interface ImagePlan {
  /** Folders, each of which becomes a layer; its content stands below `/`. */
  layers: readonly string[];
  /** Of the OCI image configuration, how a container runs. */
  config: object;
  architecture: string;
  /** Seconds since 1970 at which the image is said to be made. */
  time: number;
  /** Under which name tools find the image in the layout. */
  name: string;
}

/**
 * Writes an image as a folder that `skopeo`, `crane`, `podman` and `ctr` read: the image layout of the OCI image specification 1.1.
 * @param folder new folder for the layout
 * @returns the image's manifest, which its digest stands for
 */
export async function writeLayout(folder: string, plan: ImagePlan): Promise<Descriptor> {
  await mkdir(join(folder, 'blobs/sha256'), { recursive: true });
  const layers = [];
  for (const layer of plan.layers) {
    layers.push(await writeLayer(folder, layer));
  }
  const created = new Date(plan.time * 1_000).toISOString();
  const config = await writeJson(folder, `${MEDIA}.config.v1+json`, {
    created,
    architecture: plan.architecture,
    os: 'linux',
    config: plan.config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created, created_by: 'scripts/image.ts' })),
  });
  const manifest = await writeJson(folder, `${MEDIA}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${MEDIA}.manifest.v1+json`,
    config,
    layers: layers.map(({ descriptor }) => descriptor),
  });
  const named = { ...manifest, annotations: { 'org.opencontainers.image.ref.name': plan.name } };
  const index = { schemaVersion: 2, mediaType: `${MEDIA}.index.v1+json`, manifests: [named] };
  await writeFile(join(folder, 'index.json'), JSON.stringify(index));
  await writeFile(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  return manifest;
}

/** Packs a folder; files bear no time, so that equal files make equal bytes. `diffId` is the hash of what unpacking the layer brings back. */
async function writeLayer(
  folder: string,
  layer: string,
): Promise<{ descriptor: Descriptor; diffId: string }> {
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  const plainFiles = ['--sort=name', '--format=gnu', '--mtime=@0', '--mode=a+rX,go-w'];
  const tar = spawn('tar', ['--create', ...plainFiles, ...owner, '--directory', layer, '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    tar.once('error', reject);
    tar.once('close', resolve);
  });
  const [plain, packed] = [createHash('sha256'), createHash('sha256')];
  const part = join(folder, 'blobs/sha256/part');
  let size = 0;
  const zipped = hashed(hashed(tar.stdout, plain).pipe(createGzip({ level: 6 })), packed);
  zipped.on('data', (chunk: Buffer) => (size += chunk.length));
  await pipeline(zipped, createWriteStream(part));
  if ((await ended) !== 0) {
    throw new Error(`tar could not pack ${layer}`);
  }
  const digest = packed.digest('hex');
  await rename(part, join(folder, 'blobs/sha256', digest));
  const descriptor = { mediaType: `${MEDIA}.layer.v1.tar+gzip`, digest: `sha256:${digest}`, size };
  return { descriptor, diffId: `sha256:${plain.digest('hex')}` };
}

/** Passes bytes on, and adds them to a hash. */
function hashed(bytes: Readable, hash: Hash): Readable {
  const through = new PassThrough();
  through.on('data', (chunk: Buffer) => hash.update(chunk));
  return bytes.on('error', (error) => through.destroy(error)).pipe(through);
}

async function writeJson(folder: string, mediaType: string, value: object): Promise<Descriptor> {
  const bytes = Buffer.from(JSON.stringify(value));
  const digest = createHash('sha256').update(bytes).digest('hex');
  await writeFile(join(folder, 'blobs/sha256', digest), bytes);
  return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
}
