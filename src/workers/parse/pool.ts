import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DEFAULT_READ_OPTIONS,
  type AttachmentLimits,
  type Box,
  type FileFormat,
  type OcrMode,
  type ReadOptions,
} from '../../readers/index.js';
import { wholeChunking, type Chunking } from '../../shared/chunking.js';
import { createSharedController } from '../../shared/tools/aborting.js';
import { createChildSlots } from './child-slots.js';
import { chooseLaunch, type ConfinementLogger } from './confinement/choose-launch.js';
import type { Launch, User } from './confinement/start-confined.js';
import { openWorkspace, type Workspace } from './confinement/workspace.js';
import type { ParsedDocument } from './parse-and-chunk.js';
import type { ParseTask } from './protocol.js';
import { runTask, throwIfEnded, type TaskParts } from './run-task.js';

/** A longer text is passed to the child as a file, so that only the child holds it in memory. */
const MAX_MESSAGE_CHARACTERS = 1024 * 1024;

export interface ParserPoolOptions {
  /** Maximum number of child processes, each for one document at a time. One more runs while short texts would wait for slow files. */
  readonly size: number;
  /** A child that has had no document for so long ends; the next document starts one. */
  readonly idleMilliseconds: number;
  /** Limit of a child's address space. */
  readonly memoryMegabytes: number;
  readonly launch: Launch;
  readonly workspace: Workspace;
  /** The script that the children run instead of the parser; see `ParserChildOptions`. */
  readonly script?: string | undefined;
  /** The maximum time for one document. */
  readonly timeoutMilliseconds: number;
  readonly maxChunks: number;
  /** The options by which files are read. */
  readonly readOptions?: ReadOptions | undefined;
  readonly chunk: { readonly size: number; readonly overlap: number };
  readonly logger?: { warn(fields: Record<string, unknown>, message: string): void } | undefined;
}

export interface ParseRequest {
  readonly format: FileFormat;
  /** The name that the client gives the file. */
  readonly filename?: string | null | undefined;
  /** The pages read by text recognition, if the document says so itself. */
  readonly ocr?: OcrMode | undefined;
  /** How it is cut into chunks, as far as the document says so itself. */
  readonly chunking?: Chunking | undefined;
  /**
   * The caller who brought the document. The caller for whom the fewest children work, and have worked least, is served
   * first. A child that has read a caller's files with compiled code reads nobody else's.
   */
  readonly callerId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called now and then with the share of the document's parts that is read, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
  /** The limits of the files within the document that are kept; none is kept when it is absent. */
  readonly attachments?: AttachmentLimits | undefined;
  /** After how many milliseconds it is given up for a file of another caller that waits; never without it. */
  readonly givesWayAfter?: number | undefined;
}

export interface RenderRequest extends Pick<ParseRequest, 'callerId' | 'signal'> {
  /** Numbered from 1. */
  readonly page: number;
  /** Names the content of the file, whoever brought it: a child that has rendered its pages renders no others. */
  readonly content: string;
  /** Rectangles in points from the top left corner of the page. */
  readonly boxes: readonly Omit<Box, 'page'>[];
}

export interface ParserPool {
  /** A folder for files that only `parse` needs: it moves them from there, and copies files of other folders. */
  readonly incoming: string;
  /**
   * Resolves with the chunks and the receipt of the file at `path`, or of `text`. The caller removes its attachments.
   * @throws IngestError when the document can never be parsed; GaveWayError when it was given up for another caller's; after any other error another attempt may succeed
   */
  parse(
    request: ParseRequest & ({ readonly path: string } | { readonly text: string }),
  ): Promise<ParsedDocument>;
  /**
   * Resolves with a page of the PDF or picture at `path` as a PNG, with `boxes` marked.
   * @throws IngestError when it cannot be rendered; after any other error another attempt may succeed
   */
  render(request: RenderRequest & { readonly path: string }): Promise<Buffer>;
  /** Kills all children; their documents reject. */
  close(): Promise<void>;
}

export function createParserPool(options: ParserPoolOptions): ParserPool {
  const children = createChildSlots(options);
  const running = createRunning();
  const ending = createSharedController();
  const parts: TaskParts = { options, children, ending: ending.signal };

  return {
    incoming: options.workspace.incoming,
    async parse({ format, filename, ocr, chunking, attachments, ...request }) {
      const { callerId = '', signal, onProgress, givesWayAfter, ...source } = request;
      throwIfEnded(signal, ending.signal);
      const chunk = { ...wholeChunking(chunking, options.chunk), maxChunks: options.maxChunks };
      const { readOptions = DEFAULT_READ_OPTIONS } = options;
      const read = { chunk, options: ocr ? { ...readOptions, ocr } : readOptions };
      const { chunks, receipt, ...end } = await running.note(
        withSource(source, options.workspace.incoming, (given) =>
          runTask(
            parts,
            { format, filename, attachments, ...read, source: given },
            { callerId, origin: `caller ${callerId}`, signal, onProgress, givesWayAfter },
          ),
        ),
      );
      if (!receipt) throw new Error('a document without a receipt');
      return { chunks, receipt, attachments: end.attachments };
    },
    async render({ path, page, content, boxes, callerId = '', signal }) {
      throwIfEnded(signal, ending.signal);
      const { picture } = await running.note(
        runTask(parts, { page, boxes, source: { path } }, { callerId, origin: `content ${content}`, signal }),
      );
      return Buffer.from(picture.join(''), 'base64');
    },
    async close() {
      ending.abort(new Error('the parser pool is closed'));
      children.kill();
      await running.ended();
      await children.removed();
    },
  };
}

/** Keeps tasks in mind until they end, so that `close` can wait for them. */
function createRunning() {
  const running = new Set<Promise<unknown>>();
  return {
    note: async <T>(run: Promise<T>): Promise<T> => {
      running.add(run);
      try {
        return await run;
      } finally {
        running.delete(run);
      }
    },
    ended: () => Promise.allSettled(running),
  };
}

/** Writes a text that is too long for a message to a file while `run` runs. */
async function withSource<T>(
  source: ParseTask['source'],
  incoming: string,
  run: (source: ParseTask['source']) => Promise<T>,
): Promise<T> {
  if ('path' in source || source.text.length <= MAX_MESSAGE_CHARACTERS) return await run(source);
  const path = join(incoming, randomUUID());
  try {
    await writeFile(path, source.text);
    return await run({ path });
  } finally {
    await rm(path, { force: true });
  }
}

interface StartOptions extends Omit<ParserPoolOptions, 'launch' | 'workspace' | 'logger'> {
  /** The user that parsers run as when this process is root. */
  readonly user: User;
  readonly logger?: ConfinementLogger | undefined;
}

/** The maximum time for one page. Somebody waits for it, and others for theirs. */
const RENDER_MILLISECONDS = 10_000;
/** One of them for a page that is left to finish while another one is rendered (`pages/page-turns`). */
const RENDERERS = 2;

/**
 * Starts a pool of parsers with its own workspace. They are confined as strictly as this machine allows. Pages are rendered in
 * processes apart, so that they do not wait for files that are being read, nor such files for pages.
 */
export async function startParserPool({ user, ...options }: StartOptions): Promise<ParserPool> {
  const { logger } = options;
  const workspace = await openWorkspace({ logger });
  const launch = await chooseLaunch({ user, workspace, logger });
  const pool = createParserPool({ ...options, launch, workspace });
  const timeoutMilliseconds = Math.min(RENDER_MILLISECONDS, options.timeoutMilliseconds);
  const renderer = createParserPool({ ...options, size: RENDERERS, timeoutMilliseconds, launch, workspace });
  return {
    ...pool,
    render: (request) => renderer.render(request),
    async close() {
      await Promise.all([pool.close(), renderer.close()]);
      await workspace.close();
    },
  };
}
