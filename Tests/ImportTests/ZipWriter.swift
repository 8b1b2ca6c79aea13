import Foundation

/// Writes zips byte by byte, such as no tool would write them.
///
/// Entries are stored, not packed, unless the test says that they are packed and
/// gives bytes that are not.
struct ZipWriter {
    private var body: [UInt8] = []
    private var directory: [UInt8] = []
    private var count: UInt16 = 0

    /// Appends an entry.
    ///
    /// - Parameters:
    ///   - name: Any name.
    ///   - contents: The bytes in the zip.
    ///   - method: 0 for stored, 8 for deflated.
    ///   - flags: General purpose bits; 1 means encrypted, 2,048 that the name is UTF-8.
    ///   - declaredSize: The size after unpacking; nil is the truth for a stored entry.
    ///   - mode: The kind and permissions of Unix; 0o120777 is a symbolic link.
    mutating func add(
        _ name: String, _ contents: String, method: UInt16 = 0, flags: UInt16 = 0,
        declaredSize: UInt32? = nil,
        mode: UInt32 = 0o100644
    ) {
        let data = Array(contents.utf8)
        let size = UInt32(data.count)
        var common: [UInt8] = []
        common.append(little: flags)
        common.append(little: method)
        common.append(little: UInt32(0x5A21_6000))  // 2025-01-01 12:00
        common.append(little: Self.checksum(data))
        common.append(little: size)
        common.append(little: declaredSize ?? size)
        common.append(little: UInt16(name.utf8.count))
        common.append(little: UInt16(0))

        let offset = UInt32(body.count)
        body.append(little: UInt32(0x0403_4B50))
        body.append(little: UInt16(20))
        body += common + Array(name.utf8) + data

        directory.append(little: UInt32(0x0201_4B50))
        directory.append(little: UInt16(0x0314))
        directory.append(little: UInt16(20))
        directory += common
        directory += [0, 0, 0, 0, 0, 0]
        directory.append(little: mode << 16)
        directory.append(little: offset)
        directory += Array(name.utf8)
        count += 1
    }

    /// The zip.
    var data: Data {
        var end: [UInt8] = []
        end.append(little: UInt32(0x0605_4B50))
        end += [0, 0, 0, 0]
        end.append(little: count)
        end.append(little: count)
        end.append(little: UInt32(directory.count))
        end.append(little: UInt32(body.count))
        end += [0, 0]
        return Data(body + directory + end)
    }

    /// CRC-32 as zips use it.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var checksum = UInt32.max
        for byte in bytes {
            checksum ^= UInt32(byte)
            for _ in 0..<8 {
                checksum = checksum & 1 == 1 ? checksum >> 1 ^ 0xEDB8_8320 : checksum >> 1
            }
        }
        return ~checksum
    }
}

extension [UInt8] {
    fileprivate mutating func append<Number: FixedWidthInteger>(little number: Number) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
