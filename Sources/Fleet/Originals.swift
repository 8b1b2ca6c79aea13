import Archive
import Conduct
import Control
import Favorites
import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Posts
import ServiceLifecycle
import Settings

/// The current state of the human's own posts at their network.
///
/// A post that the human deleted or edited since it was archived is not used in its old form. The
/// bot's copies of it are undone or edited, too.
///
/// A network denies a post if it answers that the post does not exist or is not public.
actor Originals {
    /// The state of an archived post, checked right before its text is used.
    enum Finding: Equatable {
        /// The post is unchanged; or it cannot be checked, and the operator trusts the archive.
        case kept
        /// The human's network does not answer now, or not for this account.
        case unanswered
        /// The post cannot be checked, and the operator has not decided to trust the archive.
        case unverifiable
        /// The post was edited; the archive has the new text.
        case edited
        /// The post is not visible to everybody any more, or does not exist.
        case withheld
    }

    /// Seconds that must pass after the first denial of a post before a second denial confirms it.
    private static let confirmationDelay: TimeInterval = 600
    /// Seconds for which possibly deleted posts are not checked after a request had no answer.
    private static let doubtPause: TimeInterval = 120
    /// The maximum number of other posts that are requested before a post counts as gone.
    private static let witnessCount = 4
    /// The maximum number of posts remembered as denied or changed; when it is reached, the memory
    /// is cleared.
    private static let memoryLimit = 1_000
    /// The number of copies that are undone in an hour without asking a person.
    ///
    /// A human who deletes thousands of posts at once, or lets their server do so, may want to keep
    /// the mirror.
    private static let undosPerHour = 10
    /// The number of requests in one pass.
    static let requestsAtOnce = 40
    /// Seconds from a pass that checked originals to the next one, and from sending a copy to the
    /// first check of its original.
    static let interval: TimeInterval = 300
    /// The assumed number of posts on a page of the list of the human's posts, before a page was
    /// read.
    private static let assumedPageSize = 40
    /// Seconds for which the list is not read again after it was read to its end, or could not be
    /// read.
    private static let surveyPause: TimeInterval = 1_800

    private let human: AccountGate?
    /// `nil` in a dry run.
    private let bot: AccountGate?
    /// The bot's account, which published the copies.
    private let botAccount: AccountID
    private let archive: Archive
    private let feeds: FeedTable
    private let store: OutboxStore
    private let people: People
    private let planner: PlanMaker
    /// Learns from the human's deletions; nil if texts are not judged.
    private let taste: TextTaste?
    /// Returns the `Note` that labels the texts of copies as taken back by the human; its argument
    /// is the present time.
    private let labelWriter: @Sendable (Date) -> OutboxStore.Note
    private let configuration: MirrorSettings
    /// Whether the operator trusts the archive while posts cannot be checked.
    nonisolated let trustsArchive: Bool
    private let clock: any WallClock
    private let logger: Logger
    /// The archived posts that the human's network denied, with the time of the last check.
    private var doubts: [PostID: Date] = [:]
    /// When the human's network first denied posts that the archive does not contain any more.
    private var firstDenials: [PostID: Date] = [:]
    private var knowsEarlierDenials = false
    /// Digests of changed texts that a list showed; each was checked once.
    private var shownChanges: [PostID: UInt64] = [:]
    /// The next page of the list of the human's posts, while the list is read to check many
    /// originals; otherwise nil.
    private var survey: FeedPosition?
    /// When the list may be read again.
    private var nextSurvey = Date.distantPast
    /// The largest number of posts on a page of that list so far.
    private var largestPageSize = assumedPageSize
    /// The number of requests to undo copies so far; the publisher carries them out.
    private(set) var undoRequestCount = 0
    /// The maximum number of originals in one request for a list; reduced after a failure.
    private var listSize = Int.max

    /// - Parameters:
    ///   - human: The human's network; nil without an account that can read it.
    ///   - bot: The bot's network; nil in a dry run.
    ///   - botAccount: The author of the copies.
    init(
        of mirror: HumanMirror, human: AccountGate?, bot: AccountGate?, botAccount: AccountID,
        store: OutboxStore,
        planner: PlanMaker
    ) {
        self.human = human
        self.bot = bot
        self.botAccount = botAccount
        self.store = store
        self.planner = planner
        archive = mirror.archive
        people = mirror.people
        feeds = mirror.feeds
        taste = mirror.textTaste()
        labelWriter = { mirror.labelWriter(.takenBack, now: $0) }
        configuration = mirror.configuration
        clock = mirror.clock
        logger = mirror.logger
        trustsArchive = mirror.configuration.archiveTrust == true
    }

    /// Checks a post at the human's network, and updates its copies.
    ///
    /// A post that is gone is not used. It is forgotten, and its copies are undone, after a second
    /// denial some time after the first. The network must also recognize the human's account and
    /// show another of their posts, because a broken server may deny everything.
    ///
    /// - Parameters:
    ///   - post: The post as archived.
    ///   - mayBeDenied: Whether to record a denial in the archive.
    ///   - action: The action that is about to use its text; nil for none.
    ///   - part: The further part of its thread that uses the text; nil for the first part.
    /// - Returns: Whether the archived text may be used, and whether the action still has that
    ///   text.
    func find(
        _ post: Post, mayBeDenied: Bool = true, for action: Action? = nil, part: Action.Part? = nil
    ) async throws -> Finding {
        guard let human, human.name == post.id.network else { return unverified }
        // A post that is checked here need not be checked by `askAgain` soon.
        if doubts[post.id] != nil { doubts[post.id] = clock.now }
        let observed: ObservedPost
        do {
            switch try await ask(human, for: post) {
            case .shown(let shown) where shown.post.isOpen:
                observed = shown.withArchivedPictures(from: post)
            case .shown, .denied:
                if try await isGoneForGood(post.id, from: human) {
                    try await takeBackAndForget(post.id)
                }
                return .withheld
            case .unknown: return unverified
            }
        } catch is NetworkError {
            postponeDoubts()
            return .unanswered
        } catch is CancellationError where !Task.isCancelled {
            return .unanswered
        }
        clearDoubt(about: post.id)
        if mayBeDenied, try await archive.denial(of: post.id) != nil {
            try await archive.noteDenial(of: post.id, at: nil)
        }
        // If a server may not report an edit, the texts are compared.
        let isSilentlyEdited =
            observed.editedAt == nil && human.capabilities.mayHideEdits
            && !TextRules.readAlike(observed.post, post)
        let timeOfSilentEdit = isSilentlyEdited ? human.present(at: clock.now) : nil
        guard let edited = observed.editedAt ?? timeOfSilentEdit else {
            return mayBeUsed(observed.post, from: post) ? .kept : .withheld
        }
        let finding = try await follow(observed, from: post, at: edited)
        // The archive may have the edit already, from a check for another action, or from a worker
        // that ended right after it.
        guard finding == .kept, let action, bot != nil else { return finding }
        let isPart = part != nil || action.parent != nil
        let newWording = try await currentWording(of: observed.post, for: action, isPart: isPart)
        let text = part?.text ?? action.text
        let warning = if let part { part.warning } else { action.wording?.warning }
        return newWording?.text == text && newWording?.warning == warning ? .kept : .edited
    }

    /// The finding for a post that cannot be checked.
    private var unverified: Finding { trustsArchive ? .kept : .unverifiable }

    /// The human's network's answer about a post.
    private enum Answer {
        case shown(ObservedPost)
        case denied
        /// The network cannot tell.
        case unknown
    }

    /// Requests a post by its address, or by its identity if the archive has no address.
    ///
    /// If the network cannot look up identities, the list of the account's posts decides, if it was
    /// read completely: a post that lies between two listed posts and is not listed itself was
    /// removed.
    ///
    /// - Throws: ``NetworkError`` if the network does not answer now.
    private func ask(_ human: AccountGate, for post: Post) async throws -> Answer {
        if let address = post.address {
            return try await human.lookUpOwn(address).map(Answer.shown) ?? .denied
        }
        let answer = try await ask(human, for: post.id)
        switch answer {
        case .shown(let shown): try await archive.locate(post.id, at: shown.address)
        case .denied: break
        case .unknown:
            let isWhole = try await feeds.isReadWhole(FeedName.humanPosts)
            if isWhole, try await archive.isBetweenSeen(post) { return .denied }
        }
        return answer
    }

    private func ask(_ human: AccountGate, for id: PostID) async throws -> Answer {
        do {
            return try await human.lookUp(identity: id).map(Answer.shown) ?? .denied
        } catch let error as NetworkError where error.code == .capability {
            return .unknown
        }
    }

    /// Whether the post's present visibility and kind still allow its use.
    private func mayBeUsed(_ currentPost: Post, from archived: Post) -> Bool {
        let rules = TextRules(configuration, limits: .usual(of: configuration.botNetwork))
        guard !currentPost.isQuote, rules.refusalOfMedia(currentPost) == nil,
            currentPost.pictures.map(\.alt) == archived.pictures.map(\.alt)
        else {
            return false
        }
        if !currentPost.isSensitive { return true }
        // A sensitive post without a warning may have only sensitive pictures; then it may be sent.
        return rules.carries(currentPost) && currentPost.warning == archived.warning
    }

    /// Records that the network denies a post, and returns whether that is confirmed.
    private func isGoneForGood(_ id: PostID, from human: AccountGate) async throws -> Bool {
        let now = clock.now
        // The first denial is stored, because a worker that runs once leaves the confirmation to
        // the next worker. A denial in the future means that the clock was set back, and counts as
        // none.
        guard let firstDenial = try await archive.denial(of: id) ?? firstDenials[id],
            firstDenial <= now
        else {
            if doubts.count >= Self.memoryLimit {
                doubts = [:]
                firstDenials = [:]
            }
            doubts[id] = now
            firstDenials[id] = now
            try await archive.noteDenial(of: id, at: now)
            return false
        }
        guard now.timeIntervalSince(firstDenial) >= Self.confirmationDelay else { return false }
        do {
            _ = try await human.verifyAccount()
            guard try await showsAnother(than: id, human) else {
                doubts[id] = now
                try await askPerson(aboutCopiesOf: id)
                return false
            }
        } catch is NetworkError {
            postponeDoubts()
            return false
        }
        clearDoubt(about: id)
        return true
    }

    /// Whether the network shows another of the human's posts now: a network that denies all of
    /// their posts is broken.
    private func showsAnother(than id: PostID, _ human: AccountGate) async throws -> Bool {
        var lastError: NetworkError?
        for witness in try await archive.witnesses(besides: id, limit: Self.witnessCount) {
            do {
                let answer = try await ask(human, for: witness)
                if case .shown(let shown) = answer, shown.post.isOpen { return true }
            } catch let error as NetworkError {
                // A problem with one post says nothing about the others.
                lastError = error
            }
        }
        if let lastError { throw lastError }
        return false
    }

    /// Asks a person about the copies of a post that is denied together with all others.
    private func askPerson(aboutCopiesOf id: PostID) async throws {
        let copies = try await store.copies(of: id).map(\.id)
        guard !copies.isEmpty else { return }
        try await store.proposeUndos(copies, reason: .sourceGone)
        logger.warning(
            "The human's network denies all posts: not taken back without a person, see mirror-bot undo proposed",
            metadata: [LogKeys.count: "\(copies.count)"])
    }

    /// Suspends the checks of possibly deleted posts for a while, because a server that delays one
    /// call may delay each, and due actions would wait for these calls.
    ///
    /// The post that was checked last keeps its later time, so that the others are checked before
    /// it.
    private func postponeDoubts() {
        let assumedCheck = clock.now - Self.confirmationDelay + Self.doubtPause
        doubts = doubts.mapValues { max($0, assumedCheck) }
    }

    private func clearDoubt(about id: PostID) {
        doubts[id] = nil
        firstDenials[id] = nil
    }

    /// Undoes the copies of a post that is not public any more, and then forgets the post.
    private func takeBackAndForget(_ id: PostID) async throws {
        try await takeBack(try await store.copies(of: id), for: .sourceGone)
        let post = try await archive.post(id)
        let digests = post.flatMap { $0.isReply ? nil : taste?.digests(of: $0.text, of: id) }
        try await archive.forget([id]) { [taste, now = clock.now] connection in
            if let digests {
                try taste?.table.noteDeletion(of: id, digests, now: now, on: connection)
            }
        }
    }

    /// Whether there are posts for ``askAgain()``.
    var hasDoubts: Bool { !doubts.isEmpty || !knowsEarlierDenials }

    /// Checks again posts that seemed to be gone a while ago, so that deleted posts do not stay
    /// archived.
    func askAgain() async throws {
        try await readDoubts()
        var requestsLeft = Self.requestsAtOnce
        for id in doubts.keys where requestsLeft > 0 {
            guard let lastCheck = doubts[id],
                clock.now.timeIntervalSince(lastCheck) >= Self.confirmationDelay
            else { continue }
            requestsLeft -= 1
            if let post = try await archive.post(id) {
                _ = try await find(post)
            } else {
                _ = try await findForgotten(id)
            }
        }
    }

    /// Reads which posts the network denied to an earlier process.
    private func readDoubts() async throws {
        if !knowsEarlierDenials, let human {
            let denied = try await archive.denials(on: human.name, limit: Self.memoryLimit)
            doubts.merge(denied) { earlier, _ in earlier }
        }
        knowsEarlierDenials = true
    }

    // MARK: Following

    /// Checks the originals of the bot's posts: first those that were never checked, beginning with
    /// the newest copy, then those whose last check was longest ago.
    ///
    /// A list only confirms that a post is unchanged. Each post that a list lacks, or shows
    /// differently, is requested by itself, and that answer decides.
    ///
    /// - Returns: When to continue, and how many were checked.
    /// - Throws: The store's error; `UnusableAccount`.
    func look() async throws -> (next: Date, count: Int) {
        let latest = clock.now + Cadence.idleWait(of: configuration.mirror)
        guard let human else { return (latest, 0) }
        var pass = FollowingPass(requestsLeft: Self.requestsAtOnce)
        do {
            try await look(human, &pass)
        } catch let error as NetworkError {
            // Posts that were not checked are checked in the next pass.
            if error.code == .overBudget, let later = error.retryAfter {
                return (min(max(later, clock.now + Self.interval), latest), pass.checkedCount)
            }
            // A request for fewer posts may succeed.
            listSize = max(1, min(listSize, human.capabilities.lookUpsAtOnce) / 2)
            return (clock.now + Self.interval, pass.checkedCount)
        } catch is CancellationError where !Task.isCancelled {
            return (clock.now + Self.interval, pass.checkedCount)
        }
        guard pass.checkedCount == 0 else { return (clock.now + Self.interval, pass.checkedCount) }
        // The worker runs this pass earlier after sending a copy (`Passes.onCopy`).
        let next = try await store.nextFollowing(on: human.name) ?? .distantFuture
        return (min(max(next, clock.now + Self.interval), latest), 0)
    }

    /// The remaining requests of a pass, and the number of checked originals.
    private struct FollowingPass {
        var requestsLeft: Int
        var checkedCount = 0
        /// Whether the pass ends early, because no further answer can be expected now.
        var isOver = false
    }

    private func look(_ human: AccountGate, _ pass: inout FollowingPass) async throws {
        try await readDoubts()
        while pass.requestsLeft > 0, !pass.isOver, human.pause(at: clock.now) == nil,
            !Task.isShuttingDownGracefully
        {
            if let survey {
                guard try await store.hasOriginalsToFollow(on: human.name, now: clock.now) else {
                    self.survey = nil
                    return
                }
                try await readOwnList(of: human, from: survey, &pass)
                continue
            }
            let batchSize = max(human.capabilities.lookUpsAtOnce, Self.requestsAtOnce)
            let due = try await store.originalsToFollow(
                on: human.name, now: clock.now, limit: batchSize)
            guard let first = due.first else { return }
            if let position = try await surveyStart(human, due) {
                try await readOwnList(of: human, from: position, beginningWith: first, &pass)
            } else if human.capabilities.lookUpsAtOnce > 1, listSize > 1 {
                try await askInList(human, due, &pass)
            } else {
                try await askSingly(due, &pass)
            }
        }
    }

    /// The pace of the checks of an original: daily if they cost money.
    private var pace: OutboxStore.FollowingPace { human?.priceOfOwnPost == nil ? .usual : .daily }

    /// Requests originals one by one.
    private func askSingly(_ ids: [PostID], _ pass: inout FollowingPass) async throws {
        for id in ids where pass.requestsLeft > 0 {
            guard let human, human.pause(at: clock.now) == nil, !Task.isShuttingDownGracefully
            else { return }
            pass.requestsLeft -= 1
            let post = try await archive.post(id)
            let finding = if let post { try await find(post) } else { try await findForgotten(id) }
            try await store.noteFollowed([id], pace, now: clock.now)
            pass.checkedCount += 1
            // A server that delays one call may delay each.
            guard finding != .unanswered else {
                pass.isOver = true
                return
            }
            listSize = max(listSize, 2)
        }
    }

    /// Requests originals in one list.
    ///
    /// Then it requests singly each original that the list lacks or shows in another form than the
    /// archive.
    private func askInList(_ human: AccountGate, _ due: [PostID], _ pass: inout FollowingPass)
        async throws
    {
        let ids = due.prefix(min(listSize, human.capabilities.lookUpsAtOnce))
        let archived = try await archive.posts(ids)
        var idsByAddress: [String: PostID] = [:]
        for id in ids { idsByAddress[archived[id]?.address ?? id.value] = id }
        pass.requestsLeft -= 1
        let answer = try await human.ownPosts(at: ids.map { archived[$0]?.address ?? $0.value })
        // Doubled after each success, without an overflow.
        listSize = listSize > Int.max / 2 ? .max : listSize * 2
        let requestedIDs = answer.asked.compactMap { idsByAddress[$0] }
        // The budget does not suffice for the other originals now.
        if requestedIDs.count < ids.count { pass.isOver = true }
        let confirmed = try await confirm(answer.shown, human)
        pass.checkedCount += requestedIDs.filter(confirmed.contains).count
        // Without any answer, one request shows whether the network answers now.
        let isUnanswered = requestedIDs.isEmpty && answer.shown.isEmpty
        let unconfirmed = requestedIDs.filter { !confirmed.contains($0) }
        try await askSingly(isUnanswered ? Array(ids.prefix(1)) : unconfirmed, &pass)
    }

    /// Finds the shown posts that are unchanged, and records that their copies need no change.
    ///
    /// - Returns: The unchanged posts.
    private func confirm(_ shown: [ObservedPost], _ human: AccountGate) async throws -> Set<PostID>
    {
        // A post that the network denied is not confirmed by a list.
        let open = shown.filter {
            $0.post.id.network == human.name && $0.post.isOpen && doubts[$0.post.id] == nil
        }
        let archived = try await archive.posts(open.map(\.post.id))
        let edited = open.compactMap { item -> (id: PostID, edited: Date)? in
            guard let editTime = item.editedAt else { return nil }
            return (item.post.id, editTime)
        }
        let originalsOfOlderCopies = try await store.originals(among: edited)
        let confirmed = open.filter { item in
            let id = item.post.id
            guard !originalsOfOlderCopies.contains(id) else { return false }
            // A post that the archive does not contain any more cannot be compared.
            guard let archivedPost = archived[id] else { return true }
            return item.isAsArchived(archivedPost)
        }
        try await store.noteFollowed(confirmed.map(\.post.id), pace, now: clock.now)
        return Set(confirmed.map(\.post.id))
    }

    // MARK: Reading the human's own list

    /// The first page to read of the list of the human's posts; nil unless the list costs less than
    /// single requests for the due originals.
    private func surveyStart(_ human: AccountGate, _ due: [PostID]) async throws -> FeedPosition? {
        let postsPerRequest = human.capabilities.lookUpsAtOnce
        // One pass can request fewer originals than this without the list.
        guard due.count >= max(postsPerRequest, Self.requestsAtOnce), clock.now >= nextSurvey,
            let first = due.first
        else {
            return nil
        }
        let dueCount = try await store.following(on: human.name, now: clock.now).due
        // An estimate, because counting the archive would read all of it.
        let estimatedPosts = min(
            configuration.archiveLimit, human.capabilities.depths[.ownPosts] ?? .max)
        let isCheaper: Bool
        if let priceOfOne = human.priceOfOwnPost,
            let priceOfList = human.price(ofReading: estimatedPosts, from: .ownPosts)
        {
            isCheaper = priceOfList < priceOfOne * dueCount
        } else {
            isCheaper = estimatedPosts / largestPageSize < dueCount / postsPerRequest
        }
        guard isCheaper else { return nil }
        return human.surveyStart(at: try await archive.post(first)?.address ?? first.value)
    }

    /// Reads one page of the list of the human's posts, and confirms the unchanged ones.
    ///
    /// - Parameter first: The original for which the first page is read; nil for a later page.
    private func readOwnList(
        of human: AccountGate, from position: FeedPosition, beginningWith first: PostID? = nil,
        _ pass: inout FollowingPass
    ) async throws {
        pass.requestsLeft -= 1
        survey = position
        let page: FeedPage
        do {
            page = try await human.surveyOwnPosts(position)
        } catch let error as NetworkError where error.code != .overBudget {
            // If a page cannot be read, originals are checked in the other ways.
            survey = nil
            nextSurvey = clock.now + Self.surveyPause
            throw error
        }
        largestPageSize = max(largestPageSize, page.received)
        let confirmed = try await confirm(page.items, human)
        // At least one, so that the next pass soon reads the next page.
        pass.checkedCount += max(confirmed.count, 1)
        survey = page.older.map(FeedPosition.older)
        // A page that begins at an original should show it; otherwise the list is not read on.
        let lacksFirst = if let first { !confirmed.contains(first) } else { false }
        if survey == nil || position != .newest && lacksFirst {
            survey = nil
            nextSurvey = clock.now + Self.surveyPause
        }
    }

    /// Reacts to edits and deletions that a list shows, before the regular check of each post.
    ///
    /// A list decides nothing: each changed post is requested by itself, once for each new text.
    func noteShown(_ items: [ObservedPost]) async throws {
        guard let human, human.price(ofReading: 1, from: .ownPosts) == nil else { return }
        let humansItems = items.filter { $0.post.id.network == human.name }
        let archived = try await archive.dates(of: humansItems.map(\.post.id))
        for item in humansItems where archived[item.post.id] != nil {
            let id = item.post.id
            guard human.pause(at: clock.now) == nil, let post = try await archive.post(id),
                !TextRules.readAlike(item.post, post)
            else { continue }
            let digest = StableHash.seed(of: [item.post.text, item.post.warning ?? ""])
            guard shownChanges[id] != digest else { continue }
            if shownChanges.count >= Self.memoryLimit { shownChanges = [:] }
            if try await find(post) == .unanswered { return }
            shownChanges[id] = digest
            try await store.noteFollowed([id], pace, now: clock.now)
        }
    }

    /// Checks a post that the archive has removed for its age, and undoes its copies if it is gone.
    ///
    /// Its text cannot be compared any more.
    private func findForgotten(_ id: PostID) async throws -> Finding {
        guard let human, human.name == id.network else {
            doubts[id] = nil
            return .kept
        }
        do {
            switch try await ask(human, for: id) {
            case .shown(let shown) where shown.post.isOpen: break
            case .shown, .denied:
                if try await isGoneForGood(id, from: human) { try await takeBackAndForget(id) }
                return .withheld
            case .unknown: break
            }
        } catch is NetworkError {
            postponeDoubts()
            return .unanswered
        } catch is CancellationError where !Task.isCancelled {
            return .unanswered
        }
        clearDoubt(about: id)
        return .kept
    }

    /// Applies an edit of the human's post to the archive and to the copies.
    private func follow(_ observed: ObservedPost, from post: Post, at edited: Date) async throws
        -> Finding
    {
        let isChanged =
            observed.post.text != post.text || observed.post.warning != post.warning
            || observed.post.isQuote != post.isQuote
            || observed.post.pictures.map(\.alt) != post.pictures.map(\.alt)
        // A silent edit has no time, and is noticed only while the archive has the old text. So the
        // copies are updated before the archive.
        let isSilent = observed.editedAt == nil
        if isChanged, !isSilent { try await archive.rewrite(observed.post) }
        var isFollowed = true
        for copy in try await store.copies(of: post.id, before: edited) {
            if try await !follow(observed.post, with: copy, at: edited) { isFollowed = false }
        }
        if isChanged, isSilent, isFollowed { try await archive.rewrite(observed.post) }
        if isChanged { return .edited }
        return mayBeUsed(observed.post, from: post) ? .kept : .withheld
    }

    /// Applies an edit of the human's post to a copy.
    ///
    /// - Returns: False if the edit failed, and the next check must try again.
    private func follow(_ post: Post, with copy: Action, at edited: Date) async throws -> Bool {
        guard configuration.editRule != .off else {
            try await store.noteEdited(copy.id, at: edited)
            return true
        }
        let currentWording = try await currentWording(
            of: post, for: copy, isPart: copy.parent != nil)
        let hasSamePictures = copy.wording?.pictures.map(\.alt) == post.pictures.map(\.alt)
        if let currentWording, currentWording.text == copy.text,
            currentWording.warning == copy.wording?.warning,
            hasSamePictures
        {
            try await store.noteEdited(copy.id, at: edited)
            return true
        }
        guard configuration.editRule == .edit, let currentWording, let bot,
            bot.capabilities.canEdit,
            let address = copy.remoteAddress, let wording = copy.wording,
            // An edit would drop the attachments, or leave them unchanged.
            hasSamePictures, wording.pictures.isEmpty
        else {
            try await takeBack([copy], for: .sourceEdited)
            return true
        }
        do {
            let cleaned = try await bot.withoutCustomEmoji(
                currentWording.text, warning: currentWording.warning, from: post.id.network)
            let draft = Draft(
                text: wording.published(cleaned.text), visibility: wording.visibility,
                language: post.language,
                warning: cleaned.warning,
                key: copy.key, createdAt: copy.sending ?? copy.due)
            let departure = try await bot.prepareEdit(address, draft)
            guard
                try await store.beginEdit(
                    of: copy, deadline: bot.capabilities.requestDeadline, now: clock.now)
            else {
                return true
            }
            try await departure.send()
            try await store.endEdit(of: copy.id)
        } catch let error as OutboxError
            where [.denied, .unagreed, .humanAway, .retired].contains(error.code)
        {
            // Nothing new may be sent to a person who wants no contact, or for a human who has not
            // consented, whose account is unusable or whose mirror has retired. So the copy is
            // undone.
            try await takeBack([copy], for: .sourceEdited)
            return true
        } catch let error as NetworkError {
            try await store.endEdit(of: copy.id)
            // A copy that somebody deleted needs no edit; after a temporary error the next check
            // tries again.
            if error.code != .notFound {
                if error.dropsItem {
                    try await takeBack([copy], for: .sourceEdited)
                    return true
                }
                var metadata = await people.metadata(of: copy)
                metadata[LogKeys.error] = "\(error)"
                logger.notice("Change not followed yet", metadata: metadata)
                return false
            }
        }
        try await store.noteEdited(
            copy.id, text: currentWording.text, warning: currentWording.warning, at: edited)
        let metadata = await people.metadata(of: copy)
        logger.info("Change of the human's post followed", metadata: metadata)
        return true
    }

    /// Returns the text and the warning that an action, or a further part of a thread, would have
    /// now; `nil` if it would not be published any more.
    private func currentWording(
        of post: Post, for action: Action, isPart: Bool
    ) async throws -> (text: String, warning: String?)? {
        guard let bot, try await planner.objection(to: post) == nil else { return nil }
        let rules = TextRules(
            configuration, limits: try await bot.limits(),
            repliesNameThePerson: bot.capabilities.replyNeedsMention)
        let text: String?
        if action.kind == .reply {
            // If a reply must name the person answered, the name comes first.
            let mentionedName = action.text.flatMap {
                $0.hasPrefix("@") ? $0.dropFirst().prefix { !$0.isWhitespace } : nil
            }
            text = try? rules.replyText(for: post, to: String(mentionedName ?? "")).get()
        } else {
            text = try? rules.text(for: isPart ? TextRules.withoutReplyTarget(post) : post).get()
        }
        return text.map { ($0, rules.warning(of: post)) }
    }

    // MARK: Taking back

    /// Undoes copies, but only a few in an hour; a person decides about further ones.
    private func takeBack(_ copies: [Action], for reason: Action.Reason) async throws {
        guard !copies.isEmpty else { return }
        let now = clock.now
        let allowedCount = max(
            0, Self.undosPerHour - (try await store.automaticUndos(since: now - 3_600)))
        let ids = copies.map(\.id)
        _ = try await store.askUndos(Array(ids.prefix(allowedCount)), reason: reason, now: now)
        undoRequestCount += 1
        for copy in copies.prefix(allowedCount) {
            var metadata = await people.metadata(of: copy)
            metadata[LogKeys.reason] = "\(reason.rawValue)"
            logger.info("Taking back", metadata: metadata)
        }
        let excess = Array(ids.dropFirst(allowedCount))
        guard !excess.isEmpty else { return }
        try await store.leaveToPerson(excess, reason: reason, logger)
    }

    /// Undoes posts of the bot that the human favorited, if the settings use a favorite as a
    /// request to delete.
    func noteFavorites(_ items: [ObservedPost]) async throws {
        guard configuration.deletesOnFavorite else { return }
        let identities = items.filter { $0.post.author == botAccount }.map(\.post.id.value)
        let actions = try await store.published(as: identities)
        guard !actions.isEmpty else { return }
        let now = clock.now
        _ = try await store.askUndos(
            actions.map(\.id), reason: .humanFavorite, now: now, labelWriter(now))
        undoRequestCount += 1
        logger.info(
            "Taking back what the human favorited", metadata: [LogKeys.count: "\(actions.count)"])
    }
}

extension ObservedPost {
    /// Whether the post is shown as archived, so that its copies need no change.
    fileprivate func isAsArchived(_ archived: Post) -> Bool {
        let shown = withArchivedPictures(from: archived).post
        return TextRules.readAlike(shown, archived) && shown.warning == archived.warning
            && shown.isQuote == archived.isQuote && shown.isSensitive == archived.isSensitive
            && shown.pictures.map(\.alt) == archived.pictures.map(\.alt)
    }

    /// The post with the archived pictures, if its network does not return pictures, or charges for
    /// them.
    fileprivate func withArchivedPictures(from archived: Post) -> ObservedPost {
        guard !post.id.network.traits.returnsPictures, post.hasMedia, post.pictures.isEmpty else {
            return self
        }
        var completed = self
        completed.post.pictures = archived.pictures
        return completed
    }
}

extension OutboxStore {
    /// Proposes to undo actions, and logs that, because a person must decide about so many.
    ///
    /// - Throws: `OutboxError` if the lease is lost; the store's error.
    func leaveToPerson(_ ids: [String], reason: Action.Reason, _ logger: Logger) async throws {
        try await proposeUndos(ids, reason: reason)
        logger.warning(
            "Not taken back without a person: see mirror-bot undo proposed",
            metadata: [LogKeys.count: "\(ids.count)", LogKeys.reason: "\(reason.rawValue)"])
    }
}
