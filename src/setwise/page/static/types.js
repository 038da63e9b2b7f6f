// What the server sends and takes, as types for editors; nothing runs here.
// Written from the OpenAPI document by `python -m tests.page.page_types`.

export {};

/** @typedef {{ id: string, revision: string }} Accepted */

/** @typedef {{ set: ProbeSet, label: string | null, most_like: string, is_known: boolean | null, is_far: boolean, probability: number, confidence: "sure" | "quite sure" | "not sure" | "a guess", words: string, reason: string, parts: Part[], runner_up: Candidate | null, margin: number, candidates: Candidate[], nearness: Nearness | null, outliers: number[], photos: ProbePhoto[], votes: Vote[], notes: string[], has_tree: boolean }} Answer */

/** @typedef {{ ids: string[], is_back?: boolean }} ApartBody */

/** @typedef {{ revision?: string | null, folder?: string | null, kind?: "faces" | "photos" }} BeginBody */

/** @typedef {{ revision?: string | null }} Body */

/** @typedef {{ label: string, probability: number }} Candidate */

/** @typedef {{ revision: string, words: string, key: string, command: string, state: "waiting" | "working" | "done" | "failed", error: string | null }} Change */

/** @typedef {{ image: number, url: string, name: string, spot: [number, number] | null, set_id: string, album: string, doubt: number, looks_like: string | null }} ClassPhoto */

/** @typedef {{ id: string, name: string, n_photos: number, n_doubtful: number, photos: ClassPhoto[], next: number | null }} ClassPhotos */

/** @typedef {{ revision?: string | null, key?: string | null }} CommandBody */

/** @typedef {{ revision?: string | null, set_id: string, image: number }} CoverBody */

/** @typedef {{ x: number[], known: number[], strangers: number[] }} Curve */

/** @typedef {{ revision?: string | null, label: string | null, without?: number[] | null }} DecideBody */

/** @typedef {{ revision?: string | null, decisions: RowDecision[] }} DecideManyBody */

/** @typedef {{ revision?: string | null, key?: string | null, job: string, answer?: number, label: string, without?: number[] | null }} EnrollBody */

/** @typedef {{ path: string, name: string, n_files: number }} Folder */

/** @typedef {{ path: string | null, parent: string | null, folders: Folder[] }} Folders */

/** @typedef {{ revision?: string | null, key?: string | null, set_id: string }} ForgetBody */

/** @typedef {{ name: string, n_images: number, id: string, cover: string | null, n_sets: number, weak: string[], confused_with: string[], sets: GallerySet[] }} GalleryClass */

/** @typedef {{ name: string, n_images: number, id: string, shown: number }} GallerySet */

/** @typedef {{ status: string }} Health */

/** @typedef {{ command: string, words: string, n: number, time: string, undone: boolean }} HistoryLine */

/** @typedef {{ revision: string, version: string, is_whole: boolean, state: "reading" | "looking" | "ready" | "failed", error: string | null, done: number, total: number, estimate_s: number | null, left_out: LeftOut[], rows: InboxRow[], ids: string[] }} Inbox */

/** @typedef {{ revision?: string | null, key?: string | null, ids: string[] }} InboxEnrollBody */

/** @typedef {{ name: string, n_images: number, id: string, state: "waiting" | "done" | "failed" | "enrolled" | "transferred", label: string | null, most_like: string | null, probability: number | null, runner_up: Candidate | null, candidates: Candidate[], is_known: boolean | null, is_far: boolean | null, confidence: "sure" | "quite sure" | "not sure" | "a guess" | null, words: string, reason: string, parts: Part[], is_part: boolean, group: number | null, uncertainty: number, decided: string | null, outliers: number[], without: number[], photos: RowPhoto[], boxes: ([number, number, number, number] | null)[] }} InboxRow */

/** @typedef {{ name: string, n_images: number, id: string, revision: string, judged_by: string | null, state: "waiting" | "working" | "done" | "failed" | "cancelled", step: "reading" | "looking" | "comparing", steps: StepProgress[], estimate_s: number | null, error: string | null, n_left_out: number, left_out: LeftOut[], answers: Answer[] }} Job */

/** @typedef {{ command: string, words: string }} LastCommand */

/** @typedef {{ name: string, reason: string }} LeftOut */

/** @typedef {{ revision?: string | null, key?: string | null, set_id: string, label: string }} MoveBody */

/** @typedef {{ revision?: string | null, key?: string | null, photos: PhotosOfSet[], label: string | null }} MovePhotosBody */

/** @typedef {{ revision?: string | null, run: string, items: number[], name: string | null }} NameBody */

/** @typedef {{ set_id: string, image: number, url: string, label: string, distance: number }} NearestPhoto */

/** @typedef {{ value: number, threshold: number | null, curve?: Curve | null }} Nearness */

/** @typedef {{ revision: string, file: string, can_change: boolean, reason_it_cannot: string | null, unknown: Unknown | null, n_classes: number, n_sets: number, n_images: number, features: string[], weak_state: "computing" | "ready", is_learning: boolean, learnt_by: number | null, classes: GalleryClass[], can_undo: LastCommand | null, can_redo: LastCommand | null, inbox: boolean, into: boolean, limits: RequestLimits }} Overview */

/** @typedef {{ revision?: string | null, run: string, items: number[], others: number[] }} PairBody */

/** @typedef {{ label: string | null, images: number[] }} Part */

/** @typedef {{ set_id: string, images: number[] }} PhotosOfSet */

/** @typedef {{ image: number, name: string, url: string, box: [number, number, number, number] | null, nearest: NearestPhoto | null, is_outlier: boolean }} ProbePhoto */

/** @typedef {{ name: string, n_images: number }} ProbeSet */

/** @typedef {{ error: string }} Problem */

/** @typedef {{ id: string, state: "waiting" | "working" | "done" | "failed" | "cancelled", name: string, n_images: number, asked: number, words: string[] }} Question */

/** @typedef {{ revision?: string | null, key?: string | null, set_id: string, images: number[] }} RemovePhotosBody */

/** @typedef {{ revision?: string | null, key?: string | null, label: string, to: string }} RenameBody */

/** @typedef {{ upload_bytes: number, files: number, seconds: number }} RequestLimits */

/** @typedef {{ revision?: string | null, label: string | null, without?: number[] | null, id: string }} RowDecision */

/** @typedef {{ image: number, url: string, is_outlier: boolean }} RowPhoto */

/** @typedef {{ image: number, url: string, name: string, spot: [number, number] | null }} SetPhoto */

/** @typedef {{ items: number[], name: string | null, n_photos: number }} Stack */

/** @typedef {{ run: string, state: "empty" | "reading" | "ready" | "failed" | "making" | "made", error: string, file: string, kind: string | null, noun: string, folder: string | null, done: number, total: number, items: StartItem[], stacks: Stack[], unsure: number[], alike: [number, number][], left_out: LeftOut[], can_undo: string | null, can_redo: string | null, missing: Record<string, string>, limits: RequestLimits }} Start */

/** @typedef {{ name: string, box: [number, number, number, number] | null }} StartItem */

/** @typedef {{ name: "reading" | "looking" | "comparing", words: string, state: "waiting" | "working" | "done", done: number, total: number }} StepProgress */

/** @typedef {{ words: string }} Told */

/** @typedef {{ revision?: string | null, key?: string | null, how: "copy" | "move", ids?: string[] | null }} TransferBody */

/** @typedef {{ nodes: TreeNode[], layer: string, words: string }} Tree */

/** @typedef {{ label: string, share: number }} TreeClass */

/** @typedef {{ id: number, parent: number | null, depth: number, n_images_gallery: number, share_probe: number, classes: TreeClass[], stopped_because: string | null, ncut: number | null }} TreeNode */

/** @typedef {{ rate: number, threshold: number }} Unknown */

/** @typedef {{ feature: string, basis: string, evidence: string, label: string | null, weight: number, is_narrow: boolean }} Vote */
