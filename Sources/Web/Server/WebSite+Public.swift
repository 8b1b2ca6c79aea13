import Archive
import Control
import Cryptography
import Foundation
import HTTPTypes
import Hummingbird
import Localization
import Logging
import Mirroring
import NIOCore
import Posts
import Settings
import Storage

/// The public part of the web page, for mirrors that have one (`PUBLIC_PAGE`).
extension WebSite {
    /// Whether a path belongs to the public page, which needs no log-in.
    static func isPublic(_ path: String) -> Bool { path.hasPrefix("/public/") }

    func addPublicRoutes(to router: Router<WebContext>) {
        router.get("/public/:mirror") { request, context in
            try await self.publicPage(request, try await self.visit(context), status: .ok)
        }
        router.get("/public/:mirror/report.html") { _, context in
            try await self.publicFile(try await self.visit(context))
        }
        router.post("/public/:mirror/proof") { request, context in
            try await self.askForProof(request, context)
        }
        router.post("/public/:mirror/stop") { _, context in
            try await self.stop(try await self.visit(context))
        }
    }

    /// Returns `/public/NAME` for a path below it, spelled as in the request.
    static func publicBase(of path: String) -> String {
        "/public/" + (path.split(separator: "/").dropFirst().first ?? "")
    }

    /// A request of the public page of a mirror, with its visitor.
    private struct Visit {
        let mirror: HumanMirror
        let record: MirrorRecord
        let visitor: WebSession
        /// The visitor's latest proof.
        let proof: ProofTable.Proof?
        /// Whether the proven account is the human's.
        let isHuman: Bool
        let now: Date

        var base: String { "/public/" + WebFields.encoded(mirror.name) }

        /// The account that the visitor has proven to own.
        var account: AccountID? {
            guard case .proven(let account) = proof?.progress else { return nil }
            return account
        }

        /// Returns the stored data about the owner of the proven account; `nil` without a proof.
        ///
        /// The times are in UTC, because those of the human's zone would reveal where they live.
        func report() async throws -> PersonReport? {
            guard let account else { return nil }
            return try await PersonReport(on: account, in: mirror, zone: .gmt, now: now)
        }
    }

    /// - Throws: ``WebProblem/notFound`` for a mirror without a public page, and for an unknown
    ///   name.
    private func visit(_ context: WebContext) async throws -> Visit {
        let name = try context.parameter("mirror")
        guard let visitor = context.visitor else { throw WebProblem.notFound }
        do {
            let mirror = try await installation.mirror(named: name)
            let record = try await mirror.table.record()
            guard mirror.configuration.hasPublicPage, record.move?.problem == nil,
                try await MirrorTable.isKnown(name, in: mirror.storage)
            else { throw WebProblem.notFound }
            let now = mirror.clock.now
            let proof = try await mirror.proofs.latest(of: visitor.id, now: now)
            var isHuman = false
            if case .proven(let account) = proof?.progress {
                isHuman = try await mirror.table.isHuman(account)
            }
            return Visit(
                mirror: mirror, record: record, visitor: visitor, proof: proof, isHuman: isHuman,
                now: now)
        } catch is ConfigurationError {
            throw WebProblem.notFound
        }
    }

    private func publicPage(
        _ request: Request, _ visit: Visit, status: HTTPResponse.Status, typed: String? = nil,
        wrong: String? = nil
    ) async throws -> Response {
        let page = PublicPage(
            report: try await PublicReport(of: visit.mirror, visit.record), proof: visit.proof,
            isHuman: visit.isHuman, person: try await visit.report(), now: visit.now,
            base: visit.base,
            csrf: visit.visitor.csrf,
            isReadOnly: isReadOnly, typed: typed, wrong: wrong)
        return standalonePage(
            TemplateLibrary.standard.render(.everybody, page.context), title: page.title,
            status: status,
            theme: Self.theme(of: request), isPublic: true)
    }

    private func askForProof(_ request: Request, _ context: WebContext) async throws -> Response {
        let visit = try await visit(context)
        let mirror = visit.mirror
        let typed = context.form.typed("account") ?? ""
        do {
            let account = try ProvedAccount(
                typed, on: mirror.configuration.botNetwork, localHost: try await mirror.botHost())
            guard
                proofShares.enter(
                    caller(of: request, context).share, for: "\(mirror.name) \(account.name)",
                    lasts: ProofTable.wordsLast, now: visit.now)
            else { throw ProofTable.tooMany }
            let nonce = SealingKey.randomBytes(ProofTable.nonceSize)
            try await mirror.proofs.ask(
                for: account, by: visit.visitor.id, agrees: context.form.typed("agrees") == "yes",
                nonce: nonce,
                now: visit.now)
            return Self.seeOther(visit.base + "#you")
        } catch let refusal as ChangeRefusal where refusal.code != .unknown {
            let isLimitReached = refusal.code == .full
            var response = try await publicPage(
                request, visit, status: isLimitReached ? .tooManyRequests : .badRequest,
                typed: typed,
                wrong: Words.sentence(refusal.text.page))
            if isLimitReached { response.headers[.retryAfter] = "\(Int(ProofTable.wordsLast))" }
            return response
        }
    }

    private func stop(_ visit: Visit) async throws -> Response {
        guard let account = visit.account else {
            throw WebProblem(
                status: .conflict, title: localized("No account is proven"),
                text: localized(
                    "Nothing was done. A proof holds for an hour; ask for new words, or say “stop” to the bot."
                ),
                back: visit.base)
        }
        if visit.isHuman {
            _ = try await Desk(visit.mirror, zone: nil).perform(
                StopMirroring(account: account.reference))
            return Self.seeOther(visit.base + "#you")
        }
        let people = visit.mirror.people
        // If the person is denied already, the earlier reason is kept.
        guard try await people.stance(of: account) != .deny else {
            return Self.seeOther(visit.base + "#you")
        }
        do {
            _ = try await Desk(visit.mirror, zone: nil).perform(
                DenyPeople(account: account.reference, wish: .stop))
        } catch let error where !(error is StorageError) {
            // The posts cannot be unlearned now, because the dictionary is missing. The denial is
            // stored nevertheless.
            guard try await people.stance(of: account) == .deny else { throw error }
            logger.warning("Posts not unlearned", metadata: ["type": "\(type(of: error))"])
        }
        return Self.seeOther(visit.base + "#you")
    }

    private func publicFile(_ visit: Visit) async throws -> Response {
        guard let report = try await visit.report() else { throw WebProblem.notFound }
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8",
                .contentDisposition: "attachment; filename=\"report.html\"",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: PersonPage(report).html)))
    }
}
