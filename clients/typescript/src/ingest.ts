import { readAnswer, sendTo, splitOptions, type Parts } from './call.js';
import { createForm, type FilePart, type FileSource, type Progress } from './form.js';
import type { components } from './openapi.js';
import type { Exact, Route } from './routes.js';
import type { CallOptions, Connection } from './send.js';

type Schemas = components['schemas'];
type Text = Schemas['IngestText'];

interface Uploading {
  /** Called while a file is sent; not in browsers, which do not tell. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** A field of a form that JSON has, too, is stated as there. */
type FormField<Form, Name extends keyof Form> = Name extends keyof Text ? Text[Name] : Form[Name];

export type TextOptions = CallOptions & Omit<Text, 'content'>;
export type BatchOptions = CallOptions & Omit<Schemas['IngestBatch'], 'documents'>;
export type FileOptions = CallOptions &
  Uploading & {
    readonly [Name in Exclude<keyof Schemas['IngestFile'], 'file'>]?: FormField<Schemas['IngestFile'], Name>;
  } & {
    /** The name of the file, if its source has none, or another. */
    readonly filename?: string | undefined;
  };
/** Each field counts for all files, or is a list with a value, or null, for each of them. */
export type FilesOptions = CallOptions &
  Uploading & {
    readonly [Name in Exclude<keyof Schemas['IngestFiles'], 'files'>]?:
      FormField<Schemas['IngestFiles'], Name> | readonly FormField<Schemas['IngestFiles'], Name>[];
  };

export function createIngest(connection: Connection) {
  return {
    /** Ingests a text. */
    text: <Sent extends TextOptions>(content: string, options?: Sent & Exact<Sent, TextOptions>) => {
      const { call, fields } = splitOptions(options ?? {});
      return ingest(connection, 'POST /ingest/text', { body: { content, ...fields }, call });
    },
    /** Ingests a file, which is streamed outside browsers. */
    file: async <Sent extends FileOptions>(source: FileSource, options?: Sent & Exact<Sent, FileOptions>) => {
      const { filename, ...others }: FileOptions = options ?? {};
      const files = [{ field: 'file', source, filename }];
      return ingest(connection, 'POST /ingest/file', uploadOf(files, others));
    },
    /** Ingests many files; the answer has an outcome for each. */
    files: async <Sent extends FilesOptions>(
      sources: readonly FileSource[],
      options?: Sent & Exact<Sent, FilesOptions>,
    ) => {
      const files = sources.map((source) => ({ field: 'files', source, filename: undefined }));
      return ingest(connection, 'POST /ingest/files', uploadOf(files, options ?? {}));
    },
    /** Ingests many texts; the answer has an outcome for each. */
    batch: <Item extends Schemas['BatchText'], Sent extends BatchOptions>(
      documents: readonly (Item & Exact<Item, Schemas['BatchText']>)[],
      options?: Sent & Exact<Sent, BatchOptions>,
    ) => {
      const { call, fields } = splitOptions(options ?? {});
      return ingest(connection, 'POST /ingest/batch', { body: { ...fields, documents }, call });
    },
  };
}

function uploadOf(files: readonly FilePart[], options: CallOptions & Uploading) {
  const { onProgress, ...others } = options;
  const { call, fields } = splitOptions(others);
  return { payload: createForm({ files, fields, onProgress }), call };
}

interface Content extends Pick<Parts, 'body' | 'payload'> {
  readonly call: CallOptions;
}

const ingest = <const Of extends Route>(connection: Connection, route: Of, { call, ...content }: Content) =>
  sendTo(connection, route, content, { ...call, read: readAnswer(route) });
