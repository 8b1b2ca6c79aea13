import Archive
import Control
import Foundation
import Mirroring
import Networks
package import Outbox
import Posts

/// The human's pictures: from the files of a downloaded archive, or from their network.
package struct PictureSource: Sendable {
    /// The outcome of looking for a picture.
    enum Finding {
        case found([UInt8], PictureFormat)
        case missing(reason: Action.Reason, detail: String)
        /// The picture was not requested; that may change with its address or the settings.
        case notRequested
        case unavailable(NetworkError.Code)
    }

    private let archive: Archive
    private let reader: PictureReader

    init(archive: Archive, reader: PictureReader) {
        self.archive = archive
        self.reader = reader
    }

    init(_ mirror: HumanMirror) async throws {
        self.init(archive: mirror.archive, reader: try await mirror.pictureReader())
    }

    /// Looks for one of the pictures of a text.
    ///
    /// - Parameters:
    ///   - place: The index of the picture in the text's pictures.
    ///   - maximumBytes: The largest size that the bot's network accepts.
    /// - Returns: The result; the format is detected from the bytes alone.
    /// - Throws: The store's error; `CancellationError`.
    func find(_ place: Int, of wording: Action.Wording, maximumBytes: Int) async throws -> Finding {
        var bytes = try await archive.picture(at: place, of: wording.source)
        if bytes == nil, let url = wording.pictures[place].url {
            switch try await reader.read(url, maximumBytes: min(maximumBytes, Picture.maximumBytes))
            {
            case .found(let read): bytes = read
            case .tooLarge: return Self.tooLarge(maximumBytes)
            case .unavailable(let code): return .unavailable(code)
            case .notRequested: return .notRequested
            case .gone: break
            }
        }
        guard let bytes else {
            return .missing(
                reason: .pictureGone,
                detail: "the picture is not where the human's network showed it")
        }
        guard bytes.count <= maximumBytes else { return Self.tooLarge(maximumBytes) }
        guard let format = PictureFormat(bytes) else {
            return .missing(
                reason: .notAPicture,
                detail: "the file is no JPEG, PNG or WebP picture")
        }
        return .found(bytes, format)
    }

    /// Records that the pictures of a post cannot be sent, so that no later plan chooses the post.
    func giveUp(_ source: PostID) async throws { try await archive.giveUpPictures(of: source) }

    private static func tooLarge(_ maximumBytes: Int) -> Finding {
        .missing(
            reason: .pictureTooLarge,
            detail:
                "the picture has more than the \(maximumBytes) bytes that the bot's network takes")
    }
}

/// Uploads of the human's pictures to the bot's network.
extension NetworkDeliverer {
    package func upload(_ place: Int, of action: Action) async -> UploadOutcome {
        guard let wording = action.wording, wording.pictures.indices.contains(place), let pictures
        else {
            return .refused(reason: .outbox(.incomplete), detail: "no pictures are sent")
        }
        do {
            if let uploaded = try await uploadState(of: place, action) { return uploaded }
            let finding = try await pictures.find(
                place, of: wording, maximumBytes: network.capabilities.largestPicture)
            switch finding {
            case .found(let bytes, let format):
                let (name, isReady) = try await network.upload(
                    PictureUpload(bytes: bytes, format: format, alt: wording.pictures[place].alt))
                return .uploaded(reference: name, isReady: isReady)
            case .missing(let reason, let detail):
                try await pictures.giveUp(wording.source)
                return .refused(reason: .outbox(reason), detail: detail)
            case .notRequested:
                return .refused(
                    reason: .outbox(.pictureUnasked),
                    detail: "the picture's address has no TLS, or is on this machine or its network"
                )
            case .unavailable(let code):
                return .notSent(reason: .network(code), retryAfter: nil)
            }
        } catch let error as NetworkError {
            // A refusal of one picture does not concern the account; a token may lack only this
            // scope.
            let concernsAccount = error.stopsActor && error.code != .missingScope
            if error.isPermanent, !concernsAccount {
                return .refused(reason: .network(error.code), detail: error.description)
            }
            return .notSent(
                reason: .network(error.code), cause: error.retryCause, retryAfter: error.retryAfter)
        } catch {
            return .notSent(reason: .outbox(.interrupted), retryAfter: nil)
        }
    }

    /// The upload state of a picture; nil if it is not uploaded.
    private func uploadState(of place: Int, _ action: Action) async throws -> UploadOutcome? {
        guard let upload = action.uploads.last(where: { $0.place == place }) else { return nil }
        do {
            return .uploaded(
                reference: upload.reference, isReady: try await network.isReady(upload.reference))
        } catch let error as NetworkError where error.code == .notFound {
            return nil
        }
    }
}
